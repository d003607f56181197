// Words about what is kept for undo, in Simplified Chinese; same shape as `en.storage.ts`.
import type { storage as en } from './en.storage';

export const storage: typeof en = {
  name: '存储',
  lead: '为了能撤销改动，Daybook 会保留文件改动前的内容。旧内容按以下规则清理。',
  kept: '为撤销保留',
  keptNone: '暂无',
  since: (day) => `最早可撤销到 ${day}`,
  thinned: (n) => `${n} 个更早的轮次已不能撤销`,
  rule: '规则',
  rules: [
    '最近 30 天的内容，以及每个会话的最后一轮，始终保留。',
    '保留的内容超过上限时，从最早的轮次开始清理，直到不超过上限。',
    '改动了什么仍在记录中，只是不能再撤销。',
    'Daybook 每天在空闲时检查一次。',
  ],
  limit: '上限',
  bytes: '字节',
  size: (n, unit) => `${n} ${unit}`,
  now: '立即清理',
  thinning: '正在清理…',
  done: (n, size) => `已清理 ${n} 个轮次，释放 ${size}。`,
  both: (done, left) => `${done}${left}`,
  left: (n) => `有 ${n} 个会话正在工作，它们保留的内容留到下次清理。`,
  busy: (n) => `有 ${n} 个会话正在工作，没有清理任何内容。请在工作结束后重试。`,
  nothing: '无需清理：内容没有超过上限，或都在 30 天以内。',
  gone: (day) => `已不能撤销：内容于 ${day} 清理`,
};
