// Words about what a person saves out of Daybook and takes into it, in Simplified Chinese; same shape as `en.copies.ts`.
import type { Texts } from './en';

export const copies: Texts['copies'] = {
  save: '保存副本…',
  output: '保存全部输出…',
  before: '改动之前的样子…',
  after: '改动之后的样子…',
  version: (name) => `保存 ${name} 的副本`,
  export: '导出这个会话…',
  exportNote: '一个文件夹，里面有说过和做过的一切',
  import: '导入会话…',
  saved: (name) => `已保存：${name}`,
  exported: (name) => `已导出：${name}。里面有说过和做过的一切，交给别人之前请先看一看。`,
  imported: (events) => `已导入并核对：${events} 个事件。可以查看，里面的任何内容都不会在这里运行。`,
};

export const copyFailures = {
  'copy/nothing': '这里没有可以保存的内容。',
  'copy/erased': '这些内容已被你抹去，没有副本了。',
  'copy/thinned': '为了节省空间，这些内容已经清理，没有副本了。',
  'copy/missing': '没有这个位置，或者那里缺少应有的内容。',
  'copy/permission': '那个位置无法写入或读取，请另选一处。',
  'copy/full': '磁盘已满。请腾出空间后再试。',
  'copy/folder': '那里已经有一个文件夹，请换一个名称。',
  'copy/failed': '无法读取或写入。请检查磁盘，或另选一处。',
  'archive/there': '那里已经有内容，请换一个名称。',
  'archive/here': '这个会话已经在这里了。',
  'archive/unfit': '这不是这个 Daybook 能导入的会话。',
  'archive/changed': '这与当初导出的不一致：其中有内容被改过。什么都没有导入。',
  'archive/at_work': '这个会话还有未完成的工作，或者导出时还有。请先回答它的询问或停止它，再导出。',
  'archive/store': '无法读取或写入记录。请检查磁盘后再试。',
};
