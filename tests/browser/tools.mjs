// tools.mjs - what the tests in the browser share. A test file is started with TOOLS DIBS PAGE [PICTURES]: where npm has installed
// playwright-core and axe-core, the binary, the page, and where pictures go. NUMBER is the number of tests told of before.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [tools, dibsFile, pageFile, picturesFolder] = process.argv.slice(2);
const require = createRequire(`${resolve(tools)}/`);
const { chromium } = require('playwright-core');
let number = Number(process.env.NUMBER ?? 0);

export const dibs = dibsFile;
export const pictures = picturesFolder;
export const address = `file://${resolve(pageFile)}`;
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
export const complaints = [];
if (pictures) mkdirSync(pictures, { recursive: true });

const soon = () => new Promise((wake) => setTimeout(wake, 100));

// The page shows some changes a moment after the click. So what is tested is asked again until it is true, at most 20 seconds.
export async function tell(isTrue, name, said = '') {
  const end = Date.now() + 20000;
  let good;
  while (!(good = await isTrue()) && Date.now() < end) await soon();
  if (!good) process.exitCode = 1;
  if (!good) console.log(String(said).replace(/^/gm, '# '));
  console.log(`${good ? 'ok' : 'not ok'} ${++number} - ${name}`);
}

export async function open(hash = '', options = {}, at = address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.stack));
  page.on('request', (request) => !/^(file|blob|data):|^http:\/\/127\.0\.0\.1:/.test(request.url()) && complaints.push(`a request to ${request.url()}`));
  await page.goto(at + hash);
  await page.waitForSelector('html[data-ready]');
  page.setDefaultTimeout(20000);
  return page;
}

// Until the function, which runs in the page, returns true; at most 60 seconds.
export async function until(page, what) {
  for (let k = 0; k < 600; k++) {
    if (await page.evaluate(what)) return true;
    await soon();
  }
  return false;
}

export const native = (words) => spawnSync(dibs, words, { encoding: 'utf8' }).stdout;
export const text = (page, selector) => page.textContent(selector);

export async function choose(page, target, item) {
  await page.click(target);
  await page.click(`.menu >> text="${item}"`);
}

export async function tabTo(page, selector) {
  for (let k = 0; k < 120; k++) {
    if (await page.evaluate((s) => document.activeElement?.matches(s), selector)) return true;
    await page.keyboard.press('Tab');
  }
  return false;
}

// A page that is opened with bypassCSP is looked at by axe-core.
export async function accessible(page, name) {
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate(() => window.axe.run());
  await tell(() => violations.length === 0, `${name}: axe has nothing to say`,
    violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 4).map((node) => node.html.slice(0, 160)).join(' | ')}`).join('\n'));
}

export async function end() {
  await tell(() => complaints.length === 0, 'no errors, no violations of the content security policy, no requests', [...new Set(complaints)].join('\n'));
  await browser.close();
  console.log(`1..${number}`);
}
