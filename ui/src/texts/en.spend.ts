// Words about money, in English. `zh.spend.ts` has the same shape.
export const spend = {
  title: 'Spending',
  lead: 'What models cost is reckoned from published prices. Your provider’s bill is what counts.',
  session: 'Limit for one session',
  sessionNote: 'Daybook asks once it is reached; the last answer may go a little over',
  day: 'Limit for one day',
  dayNote: 'Over all sessions, from midnight to midnight',
  none: 'No limit',
  wrong: 'An amount from $0.01 to $1,000,000, or nothing',
  prices: 'Prices you know',
  pricesLead:
    'For models whose price Daybook doesn’t know, or that cost you something else. In dollars for a million tokens.',
  price: (input: string, cached: string, output: string) =>
    `${input} read, ${cached} read from cache, ${output} written`,
  remove: (model: string) => `Remove the price of ${model}`,
  add: 'Give a price for a model',
  input: 'Read',
  cached: 'Read from cache',
  output: 'Written',
  save: 'Save price',
  wrongPrice: 'Amounts in dollars, such as 0.30',
  cost: 'Cost',
  about: (sum: string) => `about ${sum}`,
  atLeast: (sum: string) => `at least ${sum}`,
  little: (sum: string) => `less than ${sum}`,
  unknown: '—',
  unknownNote: 'What this model costs isn’t known',
  free: 'Costs nothing',
  of: (spent: string, limit: string) => `${spent} of ${limit}`,
  meter: 'Spent of this session’s limit',
  reached: {
    session: (limit: string) => `The limit of ${limit} for this session is reached`,
    day: (limit: string) => `The limit of ${limit} for today is reached`,
    price: (model: string) => `What ${model} costs isn’t known`,
  },
  soFar: {
    session: (sum: string) => `This session has cost ${sum}.`,
    day: (sum: string) => `Today all sessions together have cost ${sum}.`,
  },
  next: (sum: string) => `The next request would cost about ${sum}, and its answer on top.`,
  uncountable: 'You set a limit, and this can’t be counted against it.',
  more: (portion: string) => `Allow ${portion} more`,
  uncounted: 'Go on without counting it',
  settings: 'Open settings',
};

export const spendNotices = {
  'spend/raised': {
    session: (sum: string) => `You allowed ${sum} more for this session`,
    day: (sum: string) => `You allowed ${sum} more for this day`,
  },
  'spend/uncounted': (model: string) => `What ${model} costs isn’t counted in this session`,
};

export const spendFailures = {
  'spend/changed': 'The limit isn’t what was shown any more. Nothing more was allowed.',
  'spend/unreadable': 'The limits can’t be read, so nothing was sent. Look at the settings.',
  'settings/money': 'This amount can’t be kept. Correct it.',
  'settings/unreadable':
    'Your settings can’t be read. They are kept as they are, and nothing is sent: a newer Daybook may have written them.',
};
