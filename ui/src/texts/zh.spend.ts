// Words about money, in Simplified Chinese; same shape as `en.spend.ts`.
import type { spend as en, spendFailures as enFailures, spendNotices as enNotices } from './en.spend';

export const spend: typeof en = {
  title: '花费',
  lead: '按公布的价格估算模型费用，以服务商账单为准。',
  session: '单个会话上限',
  sessionNote: '达到后 Daybook 会停下来问你；最后一次回答可能略超',
  day: '每天上限',
  dayNote: '所有会话合计，从零点到零点',
  none: '不限',
  wrong: '请填 $0.01 到 $1,000,000 之间的金额，或留空',
  prices: '你知道的价格',
  pricesLead: '用于 Daybook 不知道价格、或你的价格不同的模型。单位是美元每百万词元。',
  price: (input, cached, output) => `读取 ${input}，缓存读取 ${cached}，写出 ${output}`,
  remove: (model) => `删除 ${model} 的价格`,
  add: '给模型填价格',
  input: '读取',
  cached: '缓存读取',
  output: '写出',
  save: '保存价格',
  wrongPrice: '请填美元金额，例如 0.30',
  cost: '费用',
  about: (sum) => `约 ${sum}`,
  atLeast: (sum) => `至少 ${sum}`,
  little: (sum) => `不到 ${sum}`,
  unknown: '—',
  unknownNote: '不知道这个模型的价格',
  free: '不花钱',
  of: (spent, limit) => `${spent} / ${limit}`,
  meter: '已用本会话上限',
  reached: {
    session: (limit) => `已到本会话 ${limit} 上限`,
    day: (limit) => `已到今天 ${limit} 上限`,
    price: (model) => `不知道 ${model} 的价格`,
  },
  soFar: {
    session: (sum) => `本会话的花费：${sum}。`,
    day: (sum) => `今天所有会话的花费：${sum}。`,
  },
  next: (sum) => `下一次请求估计要 ${sum}，回答另计。`,
  uncountable: '你设了上限，而这个模型的费用无法计入。',
  more: (portion) => `再允许 ${portion}`,
  uncounted: '不计费用，继续',
  settings: '打开设置',
};

export const spendNotices: typeof enNotices = {
  'spend/raised': {
    session: (sum) => `你允许本会话再花 ${sum}`,
    day: (sum) => `你允许今天再花 ${sum}`,
  },
  'spend/uncounted': (model) => `本会话不计 ${model} 的费用`,
};

export const spendFailures: typeof enFailures = {
  'spend/changed': '上限已和显示的不同，没有再允许花费。',
  'spend/unreadable': '读不到上限，所以什么都没有发送。请查看设置。',
  'settings/money': '这个金额无法保存，请修改。',
  'settings/unreadable': '读不出你的设置，所以原样保留，也不发送任何内容：可能是更新版本的 Daybook 写的。',
};
