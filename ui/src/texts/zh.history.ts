// Words about what the model reads of earlier work, in Simplified Chinese; same shape as `en.history.ts`.
import type { Texts } from './en';

export const history: Texts['history'] = {
  summarised: (steps) => `早先的工作已总结：${steps} 步`,
  shortened: (results) => `有 ${results} 个较早的结果已为模型缩短`,
  tokens: (before, after) => `${before} → ${after} 词元`,
  why: {
    budget: '模型剩下的空间不多了。',
    overflow: '服务说内容太长。',
    asked: '是你要求的。',
  },
  kept: '什么都没有丢：全部内容仍在这里和记录里，只是模型读得少了。',
  without: '没能写出总结。早先的步骤由记录里确切知道的内容代替。',
  show: '模型读到的内容',
  full: '重新使用完整历史',
  summarising: '正在总结早先的工作，好让内容放得下…',
  menu: '这个会话的更多操作',
  ask: '现在总结早先的工作',
  askNote: '之后模型读的是总结；什么都不会删除',
};

export const historyNotices = {
  'history/restored': '从这里起，模型重新读完整历史',
  'turn/extended': {
    cut_call: '回答写到一半就超长了，要做的事没有写完。再请模型分小步做一次。',
    open_plan: '计划还有没完成的项，再问模型一次是否继续。',
    other: '结束之前，再问模型一次。',
  },
};

export const historyFailures = {
  'history/little': '现在还没有多少可以总结。',
  'history/full': '模型读的已经是完整历史。',
  'history/too_long': '完整历史超出这个模型能读的长度。请换一个能读更多的模型再试。',
  'context/cannot_fit': '即使总结之后，内容也超出这个模型能读的长度。',
};
