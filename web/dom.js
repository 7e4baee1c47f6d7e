// Elements. Text is always a text node: nothing that comes from data is ever parsed as markup.
const SVG = 'http://www.w3.org/2000/svg';

function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const el = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => make(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

/// A table; the first cell of each row is its heading. Cells are texts or elements.
export function table(caption, headings, rows) {
  return el('table', {}, el('caption', {}, caption),
    el('thead', {}, el('tr', {}, ...headings.map((text) => el('th', { scope: 'col' }, text)))),
    el('tbody', {}, ...rows.map(([first, ...rest]) =>
      el('tr', {}, el('th', { scope: 'row' }, first), ...rest.map((cell) => el('td', {}, cell))))));
}
