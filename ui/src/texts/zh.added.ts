// Words about other folders that Daybook may look at, in Simplified Chinese; same shape as `en.added.ts`.
import type { added as words, addedFailures as failures, addedNotices as notices } from './en.added';
import { spaced } from './spacing';

export const added: typeof words = {
  menu: (name) => `文件夹：${name}`,
  ownNote: 'Daybook 在这里工作',
  add: '让 Daybook 看看另一个文件夹…',
  addNote: '只能读，什么都不会改动',
  group: '还可以查看的文件夹',
  chip: (name) => `还会读：${name}`,
  gone: (name) => `现在不在：${name}`,
  goneNote: '文件夹被移走了，或者磁盘没有连接。',
  other: (name) => `已不是同一个文件夹：${name}`,
  otherNote: '原来的位置上是另一个文件夹，所以不会读取。你可以重新添加。',
  remove: (name) => `不再读取${spaced(name, 'before')}`,
  canRead: (paths) => `它还可以读取${spaced(paths, 'before')}，但不会改动那里的任何内容。`,
  outside: '此文件夹以外的其他内容',
  atPath: (path) => `${path}，在你添加的供查看的文件夹里。`,
  lead: '除了自己的文件夹，会话还可以读取这些文件夹，但不能改动其中的任何内容。收回时正在运行的操作，在结束之前可能仍会看到它。',
  none: '还没有。可以在会话的输入框旁添加。',
};

export const addedNotices: typeof notices = {
  'folder/added': (name) => `从这里起还可以查看${spaced(name, 'before')}`,
  'folder/removed': (name) => `从这里起不再查看${spaced(name, 'before')}`,
};

export const addedFailures: typeof failures = {
  'folder/own': '那个文件夹里有 Daybook 自己的文件，请选择别的文件夹。',
  'folder/home': '那是你的整个主文件夹，或包含它。请选择其中的一个文件夹。',
  'folder/private': '程序在那里保存自己的文件、密钥和密码，请选择别的文件夹。',
  'folder/system': '那个文件夹属于系统，请选择别的文件夹。',
  'folder/disk': '那是整个磁盘，请选择其中的一个文件夹。',
  'folder/name': '那个文件夹的路径里有无法显示的字符。请重命名，或选择别的文件夹。',
  'folder/shared': '那个文件夹与 Daybook 正在工作的文件夹相同，或互相包含。',
  'folder/session': '那就是 Daybook 正在工作的文件夹。',
  'folder/inside': 'Daybook 已经可以读取它：它就在正在工作的文件夹里。',
  'folder/around': 'Daybook 正在工作的文件夹就在那个文件夹里。',
  'folder/added': 'Daybook 已经可以查看那个文件夹。',
  'folder/overlaps': '那个文件夹与之前添加的一个互相包含，请先收回那一个。',
  'folder/count': '添加的文件夹太多，请先收回一个。',
  'folder/removed': '那个文件夹已经收回。',
};
