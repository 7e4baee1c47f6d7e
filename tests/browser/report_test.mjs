// Reports of the real binary in a real browser, opened from disk:
//   BANDGP=…/bandgp SAMPLE_PAGE=…/sample_page SHOTS=folder node --test report_test.mjs
// SHOTS (optional) keeps screenshots to look at.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const { BANDGP, SAMPLE_PAGE, CHROMIUM = '/usr/bin/chromium', SHOTS } = process.env;
const SUNSPOTS = new URL('../../data/sunspots.csv', import.meta.url).pathname;
const EVIL = `</script><img src=x onerror="window.harm=1"><!--'"&\u2028`;
const folder = mkdtempSync(join(tmpdir(), 'bandgp-report-'));
let browser;

const bandgp = (...args) => execFileSync(BANDGP, args, { cwd: folder, encoding: 'utf8' });

/// A random number in [−1, 1), the same in every run.
function generator() {
  let seed = 12345;
  return () => { seed = (seed * 48271) % 2147483647; return 2 * seed / 2147483647 - 1; };
}

function series(name, n, header = 't,y', gap = 0) {
  const random = generator();
  const lines = [header];
  for (let i = 0; i < n; i++) {
    const t = i + 0.4 * random() + (i > n / 2 ? gap : 0);
    lines.push(`${t.toFixed(4)},${(Math.sin(t / 30) + 0.3 * Math.sin(t / 7) + 0.3 * (random() + random() + random())).toFixed(5)}`);
  }
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  return name;
}

/// Opens a page that may say nothing, fail nothing and fetch nothing but itself.
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', (error) => noise.push(error.message));
  page.on('dialog', (dialog) => { noise.push('a dialog'); dialog.dismiss(); });
  page.on('request', (request) => {
    if (request.url() !== pathToFileURL(join(folder, file)).href && !request.url().startsWith('data:')) noise.push(`request of ${request.url()}`);
  });
  const begin = Date.now();
  await page.goto(pathToFileURL(join(folder, file)).href);
  await page.waitForSelector('html[data-ready=yes]');
  await frames(page);
  page.seconds = (Date.now() - begin) / 1000;
  page.finish = async () => { assert.deepEqual(noise, []); await context.close(); };
  return page;
}

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const view = (page) => page.evaluate(() => { const { min, max, full } = document.querySelector('#curve-chart').view; return { min, max, full }; });
async function shot(page, name, options = {}) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), ...options });
}

/// How many pixels of a chart's canvas are near a colour of the page (a CSS variable), and how many differ from the empty ground.
const pixels = (page, chart, name) => page.evaluate(([selector, variable]) => {
  const chart = document.querySelector(`${selector} canvas`);
  const canvas = new OffscreenCanvas(chart.width, chart.height);
  canvas.getContext('2d', { willReadFrequently: true }).drawImage(chart, 0, 0);
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let near = 0, drawn = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] === 0) continue;
    drawn++;
    if (data[i + 3] > 100 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 60) near++;
  }
  return { near, drawn };
}, [chart, name]);

const checksum = (page, chart) => page.evaluate((selector) => document.querySelector(`${selector} canvas`).toDataURL(), chart);

before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  series('small.csv', 300, 't,y', 60);
  bandgp('fit', 'small.csv', '--quiet', '-o', 'small.json', '--report', 'small.html');
  bandgp('fit', SUNSPOTS, '--quiet', '-o', 'sunspots.json', '--report', 'sunspots.html');
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

test('everything is on the page, and nothing is fetched', async () => {
  const page = await open('sunspots.html');
  await shot(page, 'light', { fullPage: true });
  assert.equal(await page.textContent('h1'), 'sunspots');
  const cards = await page.locator('.card dt').allTextContents();
  assert.deepEqual(cards, ['Read', 'Fitted', 'How well', 'How exact', 'What it cost']);
  assert.match(await page.textContent('#summary'), /2820[^]*1\.55[^]*%[^]*nats[^]*evaluations/);
  assert.match(await page.textContent('#certificate'), /^The exact Gaussian process has a log-likelihood within .+ nats of this one, a curve within/);
  assert.match(await page.textContent('#parameter-table'), /lengthscale1\.553\s±\s0\.068/);
  assert.match(await page.textContent('#command'), /^bandgp fit .*sunspots\.csv --quiet -o sunspots\.json --report sunspots\.html$/);
  assert.equal(await page.locator('#diagnostics svg').count(), 3);
  assert.equal(await page.locator('#period-plots svg').count(), 2);
  assert.match(await page.textContent('#period-table'), /11\.05/);
  assert.equal(await page.locator('#training-plots svg').count(), 2);
  assert.ok(await page.locator('#training-plots g path').count() > 40, 'an evaluation is missing');
  assert.equal(await page.locator('#matrix-plots svg').count(), 3); // the grid's matrix from afar and from near, and the covariance
  assert.match(await page.textContent('footer'), /Permission is hereby granted, free of charge/);
  assert.equal(await page.getAttribute('meta[http-equiv]', 'content').then((text) => /default-src 'none'; script-src 'sha256-/.test(text)), true);
  await page.finish();
});

test('the charts are drawn, and drawn again when layers are switched', async () => {
  const page = await open('small.html');
  const mean = await pixels(page, '#curve-chart', 'mean'), data = await pixels(page, '#curve-chart', 'data');
  assert.ok(mean.near > 1000, `the curve has ${mean.near} pixels`);
  assert.ok(data.near > 1000, `the points have ${data.near} pixels`);
  assert.ok((await pixels(page, '#residual-chart', 'data')).near > 500);
  await page.uncheck('#layer-points');
  await frames(page);
  assert.ok((await pixels(page, '#curve-chart', 'data')).near < data.near / 4, 'the points are still there');
  await page.uncheck('#layer-mean');
  await frames(page);
  assert.ok((await pixels(page, '#curve-chart', 'mean')).near < mean.near / 2, 'the curve is still there');
  const before = await checksum(page, '#curve-chart');
  await page.check('#layer-observed');
  await frames(page);
  assert.notEqual(await checksum(page, '#curve-chart'), before);
  await page.finish();
});

test('drag, wheel, keys and buttons zoom and move, and both charts follow', async () => {
  const page = await open('small.html');
  const full = await view(page);
  const box = await page.locator('#curve-chart .u-over').boundingBox();
  const residuals = await checksum(page, '#residual-chart');
  await page.mouse.move(box.x + box.width * 0.25, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 120, { steps: 5 });
  await page.mouse.up();
  await frames(page);
  const dragged = await view(page);
  const share = (v) => (v.max - v.min) / (full.max - full.min);
  assert.ok(Math.abs(share(dragged) - 0.25) < 0.01, `dragged to ${share(dragged)}`);
  assert.ok(Math.abs((dragged.min - full.min) / (full.max - full.min) - 0.25) < 0.01);
  assert.notEqual(await checksum(page, '#residual-chart'), residuals);
  await page.evaluate(() => document.querySelector('#curve').scrollIntoView({ behavior: 'instant' }));
  await shot(page, 'zoomed');
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));

  await page.locator('#curve-chart .plot').focus();
  await page.mouse.wheel(0, -200);
  await frames(page);
  const wheeled = await view(page);
  assert.ok(share(wheeled) < share(dragged), 'the wheel does not zoom');
  await page.keyboard.press('ArrowRight');
  await frames(page);
  assert.ok((await view(page)).min > wheeled.min, 'the arrow does not move');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('+');
  await frames(page);
  assert.ok(Math.abs(share(await view(page)) / share(wheeled) - 1 / 1.5) < 1e-6, '+ does not zoom');
  await page.keyboard.press('-');
  await page.keyboard.press('Home');
  await frames(page);
  assert.deepEqual(await view(page), full);
  await page.keyboard.press('+');
  await page.keyboard.press('0');
  await frames(page);
  assert.deepEqual(await view(page), full);

  await page.click('button[aria-label="Zoom in"]');
  await page.click('button[aria-label="Later"]');
  await frames(page);
  const later = await view(page);
  assert.ok(Math.abs(share(later) - 0.5) < 1e-9 && later.min > full.min);
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 200, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 100, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await frames(page);
  assert.ok((await view(page)).min < later.min, 'shift-drag does not move');
  await page.mouse.dblclick(box.x + 200, box.y + 100);
  await frames(page);
  assert.deepEqual(await view(page), full);
  for (let i = 0; i < 100; i++) await page.keyboard.press('+'); // as deep as it goes
  await frames(page);
  const deep = await view(page);
  assert.ok(deep.max > deep.min && share(deep) < 1e-6);
  await page.finish();
});

test('the wheel scrolls the page until the chart has the focus', async () => {
  const page = await open('small.html', { viewport: { width: 1200, height: 600 } });
  const full = await view(page);
  const box = await page.locator('#curve-chart .u-over').boundingBox();
  await page.mouse.move(box.x + 300, 400);
  await page.mouse.wheel(0, 300);
  await page.waitForFunction(() => scrollY > 100);
  assert.deepEqual(await view(page), full);
  await page.finish();
});

test('names are text, whatever they say', async () => {
  const name = `evil <img src=x onerror=window.harm=2> '$(touch harm)' & "quotes".csv`;
  series(name, 120, `"t ${EVIL.replaceAll('"', '""')}","y ${EVIL.replaceAll('"', '""')}"`);
  bandgp('fit', name, '--quiet', '--report', 'evil.html');
  const page = await open('evil.html');
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => window.harm), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.match(await page.textContent('h1'), /onerror="window\.harm=1"/);
  assert.ok((await page.textContent('#summary')).includes(name));
  // The shell reads the command back as it was typed.
  const words = execFileSync('bash', ['-c', `bandgp() { printf '%s\\n' "$@"; }\n${await page.textContent('#command')}`], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual(words.trimEnd().split('\n'), ['fit', name, '--quiet', '--report', 'evil.html']);
  assert.ok(!readFileSync(join(folder, 'evil.html'), 'utf8').includes('<img'));
  await page.finish();
});

test('what is put in by force does not run', async () => {
  const file = join(folder, 'small.html');
  writeFileSync(join(folder, 'forced.html'), readFileSync(file, 'utf8').replace('<main', '<script>window.harm = 3</script><img src="x" onerror="window.harm = 4"><main'));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder, 'forced.html')).href);
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => window.harm), undefined);
  await context.close();
});

test('dark as the system is, and by the switch', async () => {
  const page = await open('sunspots.html', { colorScheme: 'dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  assert.equal(await page.getAttribute('#theme', 'aria-pressed'), 'true');
  assert.ok((await pixels(page, '#curve-chart', 'mean')).near > 1000);
  await shot(page, 'dark', { fullPage: true });
  await page.click('#theme');
  await frames(page);
  assert.notEqual(await ground(), dark);
  assert.ok((await pixels(page, '#curve-chart', 'mean')).near > 1000, 'the chart keeps the old colours');
  await page.finish();
});

test('on paper: light, without what needs a mouse, nothing cut off', async () => {
  const page = await open('sunspots.html', { colorScheme: 'dark' });
  const pdf = await page.pdf({ printBackground: true });
  if (SHOTS) writeFileSync(join(SHOTS, 'print.pdf'), pdf);
  assert.ok(pdf.length > 20000 && (pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length <= 6);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.setViewportSize({ width: 700, height: 1000 });
  await frames(page);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  for (const hidden of ['.tools', '#theme', '.hint', '#copy']) assert.equal(await page.isVisible(hidden), false, hidden);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 700), 'wider than the paper');
  assert.ok((await pixels(page, '#curve-chart', 'mean')).near > 500);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
  await page.finish();
});

test('keyboard: the skip link comes first, the focus is seen, everything can be reached', async () => {
  const page = await open('small.html');
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? (document.activeElement.id || document.activeElement.textContent));
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Skip to the chart');
  assert.ok((await page.locator('.skip').boundingBox()).y >= 0, 'the skip link is not seen');
  const order = [];
  for (;;) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => document.activeElement === document.body)) break;
    assert.ok(order.length < 60, 'the focus is caught');
    order.push(await focused());
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none', `no focus to be seen on ${order.at(-1)}`);
  }
  const places = ['theme', 'The curve', 'layer-points', 'Zoom in', 'Chart of the observations and the curve', 'Command', 'copy'].map((name) => order.indexOf(name));
  assert.ok(places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1])), `${order}`);
  await page.finish();
});

test('accessibility: axe has no complaint, light and dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open('small.html', { colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`), [], colorScheme);
    await page.finish();
  }
});

test('a narrow screen scrolls in one direction only', async () => {
  const page = await open('sunspots.html', { viewport: { width: 390, height: 844 } });
  await shot(page, 'phone');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390));
  await page.finish();
});

test('the periods of the data, and those that the model leaves', async () => {
  const random = generator();
  const lines = ['when,y'];
  for (let i = 0; i < 1200; i++) { // hours: a day, and a period of 5 h that the model does not have
    const t = new Date(Date.UTC(2024, 0, 1) + 3600e3 * i).toISOString().slice(0, 16);
    lines.push(`${t},${(3 * Math.sin(2 * Math.PI * i / 24) + Math.sin(2 * Math.PI * i / 5) + 0.3 * (random() + random())).toFixed(4)}`);
  }
  writeFileSync(join(folder, 'hours.csv'), `${lines.join('\n')}\n`);
  bandgp('fit', 'hours.csv', '--kernel', 'matern32*cos', '--fix', 'period=24h,lengthscale=1000h', '--quiet', '-o', 'hours.json', '--report', 'hours.html');
  const page = await open('hours.html');
  await shot(page, 'periods', { fullPage: true });
  assert.equal(await page.locator('#period-plots svg').count(), 2);
  assert.deepEqual(await page.locator('#period-plots svg').first().locator('circle').count(), 2, 'marked peaks');
  const captions = await page.locator('#period-plots figcaption').allTextContents();
  assert.match(captions[0], /2 peaks stand out/);
  assert.match(captions[1], /1 peak stands out/);
  const tables = page.locator('#period-table table');
  assert.equal(await tables.count(), 2);
  const told = async (i) => (await tables.nth(i).locator('tbody tr').allTextContents()).map((row) => parseFloat(row.slice(1)));
  const unit = (await tables.nth(0).locator('tbody td').first().textContent()).split(/\s/).at(-1);
  const hours = { h: 1, d: 1 / 24, min: 60 }[unit];
  const [day, five] = await told(0);
  assert.ok(Math.abs(day - 24 * hours) < 0.01 * 24 * hours && Math.abs(five - 5 * hours) < 0.01 * 5 * hours, `${day} ${five} ${unit}`);
  assert.ok(Math.abs((await told(1))[0] - 5 * hours) < 0.01 * 5 * hours);
  assert.ok(await page.locator('#contents a[href="#periods"]').count() === 1);
  await page.finish();
});

test('dates on the axis', async () => {
  execFileSync(SAMPLE_PAGE, [join(folder, 'dates.html')]);
  const page = await open('dates.html');
  assert.match(await page.textContent('#summary'), /2024-03-01 00:00 to 2024-03-17 15:00/);
  await page.mouse.move(600, 300);
  const box = await page.locator('#curve-chart .u-over').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 50);
  await frames(page);
  assert.match(await page.textContent('#curve-chart .readout'), /2024-03-\d\d \d\d:\d\d/);
  await shot(page, 'dates');
  await page.finish();
});

test('a model without its data says how to give them', async () => {
  bandgp('report', 'sunspots.json', '-o', 'alone.html', '--quiet');
  const page = await open('alone.html');
  assert.match(await page.textContent('#remark'), /--data FILE/);
  assert.equal(await page.isVisible('#residuals'), false);
  assert.ok((await pixels(page, '#curve-chart', 'mean')).near > 1000);
  await page.finish();
});

test('a fit that failed still has a page', async () => {
  try { bandgp('fit', 'small.csv', '--quiet', '--bandwidth', '1', '--fix', 'lengthscale=50,noise=0.001,variance=1', '--report', 'failed.html'); } catch (error) { assert.equal(error.status, 1); }
  const page = await open('failed.html');
  assert.match(await page.textContent('#remark'), /did not converge/);
  assert.match(await page.textContent('#certificate'), /^No certificate/);
  assert.ok((await pixels(page, '#curve-chart', 'data')).near > 500);
  await page.finish();
});

test('a sum of kernels says why there is no matrix', async () => {
  bandgp('fit', 'small.csv', '--quiet', '--kernel', 'se + matern12', '--report', 'sum.html', '--init', 'lengthscale_1=30,lengthscale_2=1,variance_1=1,variance_2=0.1,noise=0.1');
  const page = await open('sum.html');
  assert.match(await page.textContent('#summary'), /Squared exponential \+ Matérn 1\/2/);
  assert.match(await page.textContent('#matrix-lead'), /no matrix of the whole series/);
  await page.finish();
});

test('components have a sentence and a chart each, and a forecast goes on behind the data', async () => {
  const random = generator();
  const rows = Array.from({ length: 400 }, (_, i) => `${i},${(3 * Math.sin(2 * Math.PI * i / 25) + i / 100 + 0.3 * random()).toFixed(4)}`);
  writeFileSync(join(folder, 'season.csv'), `t,y\n${rows.join('\n')}\n`);
  bandgp('fit', 'season.csv', '--kernel', 'periodic(period=25) + se(lengthscale=150)', '--quiet', '-o', 'season.json');
  bandgp('report', 'season.json', '--horizon', '100', '-o', 'season.html');
  const page = await open('season.html');
  assert.equal(await page.locator('#component-list .component canvas').count(), 2);
  assert.match(await page.locator('#component-list').textContent(), /1\. Season, \d\d\.\d.% of the variance.*Repeats every 2[45][\d.]* ± /);
  assert.ok((await pixels(page, '#component-list', 'mean')).near > 100);
  assert.ok(await page.locator('#forecast-note').isVisible());
  assert.equal((await view(page)).full.max, 499);
  // The curve of the other charts moves with them.
  const before = await checksum(page, '#component-list');
  await page.locator('#curve-chart button[title="Zoom in"]').click();
  await frames(page);
  assert.notEqual(await checksum(page, '#component-list'), before);
  await page.evaluate(axe);
  assert.deepEqual((await page.evaluate(() => window.axe.run())).violations.map((v) => v.id), []);
  await shot(page, 'components', { fullPage: true });
  await page.finish();
});

test('a single term is told without a chart of its own, and without a forecast there is none', async () => {
  const page = await open('small.html');
  assert.equal(await page.locator('#component-list .component').count(), 1);
  assert.equal(await page.locator('#component-list canvas').count(), 0);
  assert.ok(await page.locator('#forecast-note').isHidden());
  await page.finish();
});

test('a million points stay smooth', { skip: process.env.BANDGP_TEST_EFFORT === 'short' && 'left to ./dev check' }, async (t) => {
  series('million.csv', 1000000, 't,level', 20000);
  bandgp('fit', 'million.csv', '--quiet', '--report', 'million.html');
  const size = statSync(join(folder, 'million.html')).size / 1e6;
  assert.ok(size < 27, `${size} MB`);
  const page = await open('million.html');
  assert.ok((await pixels(page, '#curve-chart', 'data')).drawn > 50000);
  await page.evaluate(() => document.querySelector('#curve').scrollIntoView({ behavior: 'instant' }));
  await shot(page, 'million');
  // The curve goes on through the gap, which is in the middle.
  const middle = await page.evaluate(() => {
    const canvas = document.querySelector('#curve-chart canvas');
    const { data } = canvas.getContext('2d').getImageData(Math.round(canvas.width * 0.529), 0, 1, canvas.height);
    return data.filter((alpha, i) => i % 4 === 3 && alpha > 0).length / canvas.height;
  });
  assert.ok(middle > 0.3, `only ${middle} of the gap's column is drawn`);
  // Pan at several depths: the time between frames, and the work done in one.
  const measured = [];
  for (const share of [0.9, 0.1, 0.001]) {
    const before = await checksum(page, '#curve-chart');
    const times = await page.evaluate(async (part) => {
      const v = document.querySelector('#curve-chart').view;
      const width = part * (v.full.max - v.full.min);
      v.set(v.full.min, v.full.min + width);
      const next = () => new Promise(requestAnimationFrame);
      await next();
      const list = [];
      for (let i = 0, last = performance.now(); i < 60; i++) {
        v.pan(0.01);
        await next();
        const now = performance.now();
        list.push(now - last);
        last = now;
      }
      return list.sort((a, b) => a - b);
    }, share);
    assert.notEqual(await checksum(page, '#curve-chart'), before, 'the chart does not move');
    assert.ok((await pixels(page, '#curve-chart', 'data')).drawn > 1000);
    measured.push(`${share}: ${times[30].toFixed(1)} ms, at most ${times.at(-1).toFixed(1)} ms`);
  }
  await shot(page, 'million-zoomed');
  t.diagnostic(`${size.toFixed(1)} MB, opened in ${page.seconds.toFixed(1)} s; frames while panning by share shown: ${measured.join('; ')}`);
  await page.finish();
});
