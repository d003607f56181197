// Words about what waits for the person over all sessions, in Simplified Chinese; same shape as `en.queue.ts`.
import type { Texts } from './en';

export const queue: Texts['queue'] = {
  label: '等你处理',
  title: (n) => `有 ${n} 件事需要你`,
  none: '现在没有需要你的事',
  hide: '先收起',
  here: '就在这里',
  dot: ' · ',
  held: '仅限此文件夹，不联网',
  look: { approval: '查看', question: '回答', outcome: '查看' },
};
