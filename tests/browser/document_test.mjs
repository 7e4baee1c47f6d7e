// Pages of cv and reproduce in a real browser, opened from disk:
//   BANDGP=…/bandgp SHOTS=folder node --test document_test.mjs
// SHOTS (optional) keeps screenshots to look at.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const { BANDGP, CHROMIUM = '/usr/bin/chromium', SHOTS } = process.env;
const EVIL = `</script><img src=x onerror="window.harm=1">`;
const folder = mkdtempSync(join(tmpdir(), 'bandgp-document-'));
let browser;

/// Opens a page that may say nothing, fail nothing and fetch nothing but itself.
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', (error) => noise.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== pathToFileURL(join(folder, file)).href && !request.url().startsWith('data:')) noise.push(`request of ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(folder, file)).href);
  await page.waitForSelector('html[data-ready=yes]');
  page.finish = async () => { assert.deepEqual(noise, []); await context.close(); };
  return page;
}

async function shot(page, name) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}

/// No mark or text of a chart lies outside of it.
const outside = (page) => page.evaluate(() => [...document.querySelectorAll('.charts svg')].flatMap((chart) => {
  const box = chart.getBoundingClientRect();
  return [...chart.querySelectorAll('path.mark, text')].filter((e) => {
    const b = e.getBoundingClientRect();
    return b.left < box.left - 2 || b.right > box.right + 2 || b.top < box.top - 2 || b.bottom > box.bottom + 2;
  }).map((e) => e.textContent || e.getAttribute('transform'));
}));

before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  const lines = [`t,"${EVIL.replaceAll('"', '""')}"`];
  for (let i = 0; i < 120; i++) lines.push(`${i},${Math.sin(i / 5) + 0.3 * Math.sin(12.9 * i * i)}`);
  writeFileSync(join(folder, 'evil.csv'), `${lines.join('\n')}\n`);
  const env = { ...process.env };
  delete env.BANDGP_DATA;
  const run = (...args) => execFileSync(BANDGP, args, { cwd: folder, env });
  run('cv', 'evil.csv', '--methods', 'band,dual,fitc:5,fitc:20,vecchia:5,taper:5', '--report', 'cv.html', '--quiet');
  run('reproduce', 'bandwidth', '--quick', '-o', '.', '--quiet');
  run('reproduce', 'sunspots', '--quick', '-o', '.', '--quiet');
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

test('a comparison: charts, legend, table, command', async () => {
  const page = await open('cv.html');
  await shot(page, 'cv');
  assert.equal(await page.textContent('h1'), EVIL);
  assert.equal(await page.evaluate(() => window.harm), undefined);
  assert.equal(await page.locator('.charts svg').count(), 2);
  assert.equal(await page.locator('.charts svg').first().locator('path.mark').count(), 6);
  const keys = await page.locator('.keys li').allTextContents();
  assert.deepEqual(keys.slice(0, 5), ['band, certified', 'dual', 'fitc', 'vecchia', 'taper']);
  const shapes = await page.locator('.keys li svg path.mark').evaluateAll((paths) => paths.map((p) => p.getAttribute('d')));
  assert.equal(new Set(shapes).size, 5, 'series must differ by shape, not by colour alone');
  assert.equal(await page.locator('#numbers tbody tr').count(), 6);
  assert.match(await page.textContent('#command'), /^bandgp cv evil\.csv --methods/);
  assert.deepEqual(await outside(page), []);
  await page.finish();
});

test('the bandwidth experiment: Table 1, four rules on each of three charts', async () => {
  const page = await open('bandwidth.html');
  await shot(page, 'bandwidth');
  assert.equal(await page.locator('.charts svg').count(), 3);
  assert.equal(await page.locator('.charts svg text.rule').count(), 12);
  assert.ok(await page.locator('path.mark.hollow').count() > 0, 'k = 1 is not valid');
  const rows = await page.locator('#figure tbody tr').allTextContents();
  assert.match(rows[0], /^\(a\)0\.2510\.119192016\s?15/);
  assert.deepEqual(await outside(page), []);
  await page.finish();
});

test('the sunspot experiment: what the paper says and what was found; light and dark pass axe', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open('sunspots.html', { colorScheme });
    await shot(page, `sunspots-${colorScheme}`);
    assert.match(await page.textContent('#remark'), /bundled series of 2820/);
    assert.ok(await page.locator('.claims li').count() >= 5);
    assert.deepEqual(await outside(page), []);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`), []);
    await page.finish();
  }
});

test('a phone and a sheet of paper', async () => {
  const page = await open('sunspots.html', { viewport: { width: 380, height: 800 } });
  await shot(page, 'sunspots-phone');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('#copy').isVisible(), false);
  await page.finish();
});

test('the template as a file, for pages made elsewhere: listings and tables of prose', async () => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../web/build.mjs', import.meta.url)), '--document', join(folder, 'template.html')]);
  const section = { id: 'calls', title: 'Calls', lead: '', charts: [], legend: [], notes: [], listings: [{ title: 'call.py', text: `print("${EVIL}")\n${'x'.repeat(400)}` }],
    tables: [{ caption: 'Words', prose: true, headings: ['Peer', 'Particular'], rows: [['one', 'a sentence that may need more than a line '.repeat(8)]] }] };
  const json = JSON.stringify({ version: '', created: '', command: '', title: 'Elsewhere', subtitle: '', remark: '', cards: [], sections: [section] });
  const data = `<script type="application/json" id="document">${json.replaceAll('<', '\\u003c')}</script>`;
  writeFileSync(join(folder, 'elsewhere.html'), readFileSync(join(folder, 'template.html'), 'utf8').replace('{{data}}', () => data));
  const page = await open('elsewhere.html', { viewport: { width: 380, height: 800 } });
  assert.equal(await page.locator('pre.listing').isVisible(), false);
  await page.click('summary');
  assert.ok((await page.textContent('pre.listing')).startsWith(`print("${EVIL}")`));
  assert.equal(await page.evaluate(() => window.harm), undefined);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`), []);
  await page.finish();
});
