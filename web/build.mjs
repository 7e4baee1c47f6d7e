// node build.mjs OUT.cpp [OUT.html]: bundles the page, seals it with a policy that lets only its own script and
// style run, and writes it as C++ (and, to look at, as the page without data).
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, name), 'utf8');

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, outdir: 'out',
    format: 'iife', target: 'es2020', charset: 'ascii', legalComments: 'inline', logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

const script = await bundle('main.js');
const style = await bundle('page.css');
for (const [text, end] of [[script, /<\/script|<!--/i], [style, /<\/style/i]]) {
  if (end.test(text)) throw new Error(`the bundle contains ${end}`);
}
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; ` +
  "base-uri 'none'; form-action 'none'";

const parts = { policy, style, script, licence: escaped(read('node_modules/uplot/LICENSE').trim()) };
const page = read('page.html').replace(/\{\{(\w+)\}\}/g, (all, name) => {
  if (name === 'data') return all;
  if (!(name in parts)) throw new Error(`page.html asks for ${name}`);
  return parts[name];
});
const pieces = page.split('{{data}}');
if (pieces.length !== 2) throw new Error('page.html needs one {{data}}');

const array = (name, text) => {
  const bytes = Buffer.from(text);
  const lines = [];
  for (let i = 0; i < bytes.length; i += 32) lines.push([...bytes.subarray(i, i + 32)].join(','));
  return `constexpr unsigned char ${name}[] = {\n${lines.join(',\n')}};\n`;
};
writeFileSync(process.argv[2], `// Written by web/build.mjs.
#include "bandgp/report/assets.hpp"

namespace bandgp {
namespace {

${array('kHead', pieces[0])}
${array('kTail', pieces[1])}
}  // namespace

std::string_view page_head() { return {reinterpret_cast<const char*>(kHead), sizeof(kHead)}; }
std::string_view page_tail() { return {reinterpret_cast<const char*>(kTail), sizeof(kTail)}; }

}  // namespace bandgp
`);
if (process.argv[3]) writeFileSync(process.argv[3], page);
