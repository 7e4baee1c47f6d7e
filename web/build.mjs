// node build.mjs OUT.cpp [OUT.html]: bundles the pages, seals each with a policy that lets only its own script and
// style run, and writes them as C++ (and, to look at, the report without data).
// node build.mjs --document OUT.html: the page of charts and tables alone, with {{data}} where its JSON goes (tools/peers).
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

const style = await bundle('page.css');

/// The two halves of a page, what comes before its data and what comes behind.
async function halves(html, entry) {
  const script = await bundle(entry);
  for (const [text, end] of [[script, /<\/script|<!--/i], [style, /<\/style/i]]) {
    if (end.test(text)) throw new Error(`the bundle contains ${end}`);
  }
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; ` +
    "base-uri 'none'; form-action 'none'";
  const parts = { policy, style, script, licence: escaped(read('node_modules/uplot/LICENSE').trim()) };
  const page = read(html).replace(/\{\{(\w+)\}\}/g, (all, name) => {
    if (name === 'data') return all;
    if (!(name in parts)) throw new Error(`${html} asks for ${name}`);
    return parts[name];
  });
  const pieces = page.split('{{data}}');
  if (pieces.length !== 2) throw new Error(`${html} needs one {{data}}`);
  return pieces;
}

const array = (name, text) => {
  const bytes = Buffer.from(text);
  const lines = [];
  for (let i = 0; i < bytes.length; i += 32) lines.push([...bytes.subarray(i, i + 32)].join(','));
  return `constexpr unsigned char ${name}[] = {\n${lines.join(',\n')}};\n`;
};
const view = (name) => `{reinterpret_cast<const char*>(${name}), sizeof(${name})}`;

const other = await halves('document.html', 'document.js');
if (process.argv[2] === '--document') {
  writeFileSync(process.argv[3], other.join('{{data}}'));
  process.exit();
}
const report = await halves('page.html', 'main.js');
writeFileSync(process.argv[2], `// Written by web/build.mjs.
#include "bandgp/report/assets.hpp"

namespace bandgp {
namespace {

${array('kHead', report[0])}
${array('kTail', report[1])}
${array('kDocumentHead', other[0])}
${array('kDocumentTail', other[1])}
}  // namespace

std::string_view page_head() { return ${view('kHead')}; }
std::string_view page_tail() { return ${view('kTail')}; }
std::string_view document_head() { return ${view('kDocumentHead')}; }
std::string_view document_tail() { return ${view('kDocumentTail')}; }

}  // namespace bandgp
`);
if (process.argv[3]) writeFileSync(process.argv[3], report.join('{{data}}'));
