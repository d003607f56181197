// Every screen of the page, and how to get there.
import type { Page } from 'playwright-core';
import { openSession, settle } from './page';

export interface Screen {
  name: string;
  query: string;
  go: (page: Page) => Promise<void>;
}

const session =
  (title: string, more: (page: Page) => Promise<void> = async () => {}) =>
  async (page: Page) => {
    await openSession(page, new RegExp(title));
    await more(page);
    await settle(page);
  };

const settings = (section: number) => async (page: Page) => {
  await page.getByRole('button', { name: /^(Settings|设置)$/ }).click();
  await page.getByRole('navigation').getByRole('listitem').nth(section).getByRole('button').click();
  await settle(page);
};

/** Changes over the whole window. */
async function grow(page: Page): Promise<void> {
  await page.getByRole('tab', { name: /Changes/ }).click();
  await page.keyboard.press('Control+Shift+KeyM');
  await page.locator('.file').first().waitFor();
}

/** A turn ends at the session's limit. */
export async function reachLimit(page: Page): Promise<void> {
  await page.evaluate(() => {
    const facts = {
      ...{ limit: 'spend_session', value: '3000000', spent: '2910000', sure: 'about', next: '140000' },
      ...{ portion: '3000000', provider: 'anthropic', model: 'claude-sonnet' },
    };
    const body = { kind: 'turn_end', end: 'limit', facts, ms: 240_000 } as const;
    globalThis.fake.push('ses_failed', { kind: 'entry', entry: { key: 'limit', time: Date.now(), body } });
  });
  await page.getByRole('alert').last().waitFor();
}

export const SCREENS: readonly Screen[] = [
  { name: 'welcome', query: 'empty=1', go: async () => {} },
  {
    name: 'welcome with sessions',
    query: '',
    go: (page) => page.getByRole('button', { name: 'Open another folder' }).click(),
  },
  {
    name: 'no model',
    query: 'empty=1&nomodel=1',
    go: async (page) => {
      await page.getByRole('button', { name: 'Choose a folder…' }).click();
      await page.getByRole('button', { name: 'Connect a model' }).waitFor();
    },
  },
  { name: 'working session', query: '', go: session('Order form on phones') },
  { name: 'approval', query: '', go: session('Christmas') },
  { name: 'question', query: '', go: session('Rename') },
  { name: 'unknown outcome', query: '', go: session('Totals') },
  { name: 'failed turn', query: '', go: session('citation') },
  { name: 'finished session', query: '', go: session('Faster photo') },
  {
    name: 'earlier work summarised',
    query: '',
    go: session('Faster photo', async (page) => {
      await page.getByRole('button', { name: 'More for this session' }).click();
      await page.getByRole('menuitem').first().click();
      await page.getByText('What the model reads instead').click();
    }),
  },
  {
    name: 'unfolded steps',
    query: '',
    go: session('Order form on phones', async (page) => {
      for (const step of await page.locator('details.step > summary').all()) await step.click();
    }),
  },
  {
    name: 'changed files unfolded',
    query: '',
    go: session('Faster photo', async (page) => {
      await page.locator('details.step > summary', { hasText: /Changed 3|改动了 3/ }).click();
      await page.getByRole('button', { name: /^(Undo|撤销).*filter/ }).waitFor();
    }),
  },
  {
    name: 'a whole home folder is dropped',
    query: 'empty=1',
    go: async (page) => {
      await page.evaluate(() => {
        const folder = { id: 'fol_home', name: 'ada', place: '~', exists: true, wide: 'home' } as const;
        globalThis.fake.announce({ kind: 'folder_dropped', folder });
      });
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'menu of modes',
    query: '',
    go: session('Faster photo', (page) => page.locator('[aria-haspopup=menu]').first().click()),
  },
  {
    name: 'menu of folders',
    query: '',
    go: session('citation', (page) => page.getByRole('button', { name: /^Folder:/ }).click()),
  },
  {
    name: 'changes',
    query: '',
    go: session('Faster photo', async (page) => {
      await page.getByRole('tab', { name: /Changes/ }).click();
      await page.locator('.file').first().click();
      await page.getByRole('table').waitFor();
    }),
  },
  {
    name: 'changes on three sides',
    query: '',
    go: session('Faster photo', async (page) => {
      await grow(page);
      await page.getByRole('button', { name: 'Compare all three' }).click();
    }),
  },
  {
    name: 'undo of a session, before it is decided',
    query: '',
    go: session('Faster photo', async (page) => {
      await page.evaluate(() => globalThis.fake.world.files.get('ses_done')?.put('styles.css', 'mine\n'));
      await grow(page);
      await page.getByRole('button', { name: 'Undo the whole session…' }).click();
      await page.getByRole('checkbox').check();
      await page.getByText('Show the files').click();
    }),
  },
  {
    name: 'changes taken back',
    query: '',
    go: session('Faster photo', async (page) => {
      await grow(page);
      await page.getByRole('button', { name: /Undo everything in: Make/ }).click();
      await page.getByText(/^Undid changes to/).waitFor();
    }),
  },
  {
    name: 'undo in the conversation',
    query: '',
    go: session('Faster photo', async (page) => {
      await page.evaluate(() => globalThis.fake.world.files.get('ses_done')?.put('styles.css', 'mine\n'));
      await page.keyboard.press('Control+Shift+KeyZ');
      await page.getByText('Undid turn 2').waitFor();
      await page.keyboard.press('Control+Shift+KeyZ');
      await page.getByRole('dialog').getByRole('button', { name: 'Undo 1 file' }).click();
      await page.getByText('1 file was left alone', { exact: true }).waitFor();
    }),
  },
  {
    name: 'jobs, one about to be stopped',
    query: '',
    go: session('Order form on phones', async (page) => {
      await page.keyboard.press('Control+4');
      await page.getByText('Newest output').first().click();
      await page.getByRole('button', { name: /^Stop python3/ }).click();
      await page.getByRole('button', { name: 'Let it run' }).waitFor();
    }),
  },
  {
    name: 'record',
    query: '',
    go: session('Faster photo', async (page) => {
      await page.keyboard.press('Control+5');
      await page.keyboard.press('Control+Shift+KeyM');
      await page.getByRole('slider', { name: 'Moment in the session' }).fill('20');
      await page.getByRole('heading', { name: 'What the model saw' }).waitFor();
      for (const fold of ['Read it as sent', 'The exact event', 'What this means'])
        await page.getByText(fold).click();
    }),
  },
  {
    name: 'record beside the conversation',
    query: '',
    go: session('Faster photo', async (page) => {
      await page.getByRole('tab', { name: 'Record' }).click();
      await page.locator('.line .event[aria-current]').waitFor();
    }),
  },
  {
    name: 'record that does not hold',
    query: 'heavy=1&only=ses_hostile',
    go: async (page) => {
      await page.keyboard.press('Control+5');
      await page.keyboard.press('Control+Shift+KeyM');
      await page.getByRole('button', { name: 'Show that event' }).click();
      await page.getByText('What exactly').click();
    },
  },
  {
    name: 'link',
    query: '',
    go: session('Faster photo', (page) => page.locator('.md-link').first().click()),
  },
  {
    name: 'tour',
    query: 'empty=1',
    go: async (page) => {
      await page.getByRole('button', { name: /tour/ }).click();
      await page.getByRole('button', { name: 'Begin the tour' }).waitFor();
    },
  },
  {
    name: 'end of the tour',
    query: 'empty=1',
    go: async (page) => {
      await page.getByRole('button', { name: /tour/ }).click();
      await page.getByRole('button', { name: 'Begin the tour' }).click();
      await page.getByRole('button', { name: /Allow once/ }).click();
      await page.getByRole('button', { name: 'Use it on your own folder' }).waitFor();
    },
  },
  {
    name: 'what waits over all sessions',
    query: '',
    go: session('Christmas', async (page) => {
      await page.getByRole('button', { name: /^Needs you \d+$/ }).click();
      await page.getByRole('region', { name: 'Waiting for you' }).waitFor();
    }),
  },
  { name: 'limit of money', query: '', go: session('citation', reachLimit) },
  { name: 'models and keys', query: 'problem=1', go: settings(0) },
  {
    name: 'a service’s own certificate',
    query: '',
    go: async (page) => {
      await settings(0)(page);
      await page.getByRole('button', { name: /^(Certificate…|证书…)$/ }).click();
      await page.getByRole('button', { name: /^(Choose the file…|选择文件…)$/ }).click();
      await page.getByText('Office authority, Example Ltd').waitFor();
      await settle(page);
    },
  },
  {
    name: 'a price for a model',
    query: '',
    go: async (page) => {
      await settings(0)(page);
      await page.getByRole('button', { name: 'Give a price for a model' }).click();
      await page.getByRole('menuitem').first().click();
    },
  },
  { name: 'permissions', query: '', go: settings(1) },
  { name: 'permissions that can’t be read', query: 'unreadable=1', go: settings(1) },
  {
    name: 'a new rule',
    query: '',
    go: async (page) => {
      await settings(1)(page);
      await page.getByRole('button', { name: 'Add a rule…' }).click();
      await page
        .getByRole('button', { name: /^What: / })
        .first()
        .click();
      await page.getByRole('menuitemradio', { name: 'A file or folder' }).click();
    },
  },
  {
    name: 'what would happen if',
    query: '',
    go: async (page) => {
      await settings(1)(page);
      await page.getByRole('textbox', { name: 'Command' }).fill('curl $HOME');
      await page.keyboard.press('Enter');
      await page.getByText('You would be asked first').waitFor();
    },
  },
  { name: 'appearance', query: '', go: settings(2) },
];
