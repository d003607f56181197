// A headless browser that looks at the built page, with the stand-in behind it.
//
// Everything the page asks for is written down: a request that leaves the page's own address, a violation of the policy
// or an uncaught error is evidence, and `checkQuiet` turns it into a failure.
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { expect, inject } from 'vitest';

/** Where systems keep it; `CHROMIUM` names another one. */
const PROGRAMS = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'];
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  // Small systems have little shared memory.
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
  // No name resolves: whatever tries to leave shows up as a failed request instead of reaching anybody.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

export interface Shown {
  page: Page;
  /** What went wrong or went out so far. */
  evidence: string[];
  checkQuiet(): void;
}

export class Stage {
  #browser: Browser | null = null;
  #context: BrowserContext | null = null;
  readonly address = inject('address');

  async open(): Promise<void> {
    const executablePath = PROGRAMS.find((program) => program !== '' && existsSync(program));
    if (!executablePath)
      throw new Error(`no Chromium in ${PROGRAMS.filter(Boolean).join(', ')}; set CHROMIUM`);
    this.#browser = await chromium.launch({ executablePath, args: FLAGS });
    this.#context = await this.#browser.newContext();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }

  /** A fresh page. `query` says what the stand-in looks like; `before` runs ahead of the page's own script. */
  async show(query: string, width = 1360, height = 860, before: () => void = () => {}): Promise<Shown> {
    if (!this.#context) throw new Error('the stage is not open');
    const page = await this.#context.newPage();
    // Patient: machines that build at the same time are slow to draw, and only what never comes is wrong.
    page.setDefaultTimeout(90_000);
    await page.setViewportSize({ width, height });
    // Pages share a cache, but nothing they wrote: a page begins without it, a reload keeps it.
    await page.addInitScript(() => {
      if (sessionStorage.getItem('begun') === null) localStorage.clear();
      sessionStorage.setItem('begun', 'yes');
    });
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

/** Opens a session by its title, as if it had been chosen in the sidebar. */
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
