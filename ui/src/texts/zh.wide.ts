// 选中的文件夹远不止一件工作时的询问，简体中文。形状与 `en.wide.ts` 相同。
import type { Texts } from './en';

export const wide: Texts['wide'] = {
  title: {
    home: '这是你的整个主文件夹',
    above_home: '你的整个主文件夹都在这个文件夹里',
    disk: '这是一整个磁盘',
    own_data: 'Daybook 自己的数据在这个文件夹里',
  },
  lead: (name) => `在“${name}”里工作意味着：`,
  means: {
    sees: '里面的一切都可能被读取：文稿、图片、消息，以及其他程序保存的内容。',
    changes: '里面的一切都可能被改动；在“放手改”和“自动”模式下不会询问。',
    undo: '逐个查看要花很长时间，撤销也未必能覆盖全部。',
    own_data: 'Daybook 自己的数据始终碰不到。',
  },
  better: '只为这件事准备一个文件夹，更安全，也更快。',
  other: '选择别的文件夹',
  anyway: '仍在这里工作',
};
