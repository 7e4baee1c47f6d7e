// Numbers out of the page: the way back from src/bandgp/report/blocks.cpp.
function bytesOf(id) {
  const element = document.getElementById(id);
  const text = atob(element.textContent);
  element.textContent = ''; // some megabytes that are not needed twice
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

export function unpack(block, bytes = bytesOf) {
  const { kind, origin = 0, step = 1 } = block;
  const buffer = bytes(block.block);
  if (kind === 'doubles') return new Float64Array(buffer);
  if (kind === 'chunks') {
    const starts = new Float64Array(bytes(block.starts)), origins = new Float64Array(bytes(block.origins));
    let chunk = 0;
    return Float64Array.from(new Float32Array(buffer), (offset, i) => {
      while (i >= starts[chunk + 1]) chunk++;
      return origins[chunk] + offset;
    });
  }
  if (kind === 'floats') return Float64Array.from(new Float32Array(buffer), (value) => origin + value);
  const values = Float32Array.from(new Uint16Array(buffer), (value) => origin + step * value);
  return kind === 'logarithms' ? values.map(Math.exp) : values;
}
