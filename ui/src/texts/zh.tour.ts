// Words of the guided tour, in Simplified Chinese; same shape as `en.tour.ts`.
import type { Texts } from './en';

export const tour: Texts['tour'] = {
  start: '看看 Daybook 怎么工作',
  startText: '在一个示例文件夹里改正面包店的菜单，大约一分钟。',
  points: [
    '先列出计划，再逐步完成，你都能看到',
    '改动文件或运行命令之前会先问你',
    '改了哪一行，都列在“改动”里，也能在那里撤销',
  ],
  begin: '开始演示',
  prompt: '演示一下你是怎么工作的。',
  end: '演示到此结束',
  broken: '演示已停止',
  endText: '换成你自己的文件夹，再选一个模型，就能这样工作。',
  changesText: '改动逐行列在“改动”里，可以在那里撤销，也可以恢复。',
  changes: '看看改了什么',
  own: '用在自己的文件夹上',
  again: '再看一遍',
};
