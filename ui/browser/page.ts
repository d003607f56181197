// The built page in a headless browser, under the window's own policy, with the stand-in behind it.
//
// Everything the page asks for is written down: a request that leaves the page's own address, a violation of the policy
// or an uncaught error is evidence, and `checkQuiet` turns it into a failure.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { build } from 'vite';
import { expect } from 'vitest';

/** The policy of the window, as far as a plain address can have it. */
export const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'none'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
  // No name resolves: whatever tries to leave shows up as a failed request instead of reaching anybody.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];
const TYPES: { [ending in string]?: string } = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

export interface Shown {
  page: Page;
  /** What went wrong or went out so far. */
  evidence: string[];
  checkQuiet(): void;
}

export class Stage {
  #folder = '';
  #server: Server | null = null;
  #browser: Browser | null = null;
  address = '';

  async open(): Promise<void> {
    this.#folder = mkdtempSync(join(tmpdir(), 'daybook-page-'));
    await build({
      mode: 'demo',
      logLevel: 'error',
      build: { outDir: this.#folder, emptyOutDir: true },
    });
    this.#server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://page').pathname;
      const file = normalize(join(this.#folder, path === '/' ? 'index.html' : path));
      response.setHeader('Content-Security-Policy', POLICY);
      try {
        const body = readFileSync(file);
        response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
        response.end(body);
      } catch {
        response.statusCode = 404;
        response.end();
      }
    });
    await new Promise<void>((ready) => this.#server?.listen(0, '127.0.0.1', ready));
    this.address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
    const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
    this.#browser = await chromium.launch({ executablePath, args: FLAGS });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    this.#server?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A fresh page. `query` says what the stand-in looks like; `before` runs ahead of the page's own script. */
  async show(query: string, width = 1360, height = 860, before: () => void = () => {}): Promise<Shown> {
    if (!this.#browser) throw new Error('the stage is not open');
    const page = await this.#browser.newPage({ viewport: { width, height } });
    await page.addInitScript(before);
    const evidence: string[] = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.address) && !url.startsWith('data:')) evidence.push(`request ${url}`);
    });
    page.on('pageerror', (error) => evidence.push(`error ${error.message}`));
    page.on('dialog', (dialog) => {
      evidence.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('popup', () => evidence.push('popup'));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        evidence.push(`console ${message.text()}`);
    });
    await page.goto(`${this.address}?pace=0&${query}`);
    await page.waitForSelector('h1');
    return { page, evidence, checkQuiet: () => expect(evidence).toEqual([]) };
  }
}

/** Opens a session by its id, as if it had been chosen in the sidebar. */
export async function openSession(page: Page, title: RegExp | string): Promise<void> {
  await page.getByRole('navigation').getByRole('button', { name: title }).first().click();
  await page.getByRole('textbox').last().waitFor();
  await settle(page);
}

/** Two frames: what was changed is laid out and drawn. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}
