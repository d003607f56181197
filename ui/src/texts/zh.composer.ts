// Words of the composer and of messages that wait, in Chinese.
import type { Texts } from './en';

export const composer: Texts['composer'] = {
  message: '消息',
  start: '说说想做什么…',
  steer: '补充说明，或换个方向…',
  replies: {
    answer: { hint: '回答上面的问题…', note: '发出后会作为对上面问题的回答：', send: '作为回答发送' },
    refuse: {
      hint: '说说该怎么做（不会允许这一步）…',
      note: '发出后会拒绝这一步，并告诉 Daybook：',
      send: '不允许，并这样说',
    },
    wait: { hint: '请先回答上面，也可以补充…' },
  },
  keyElsewhere: (key) => `什么都没有允许。${key} 只在请求内有效。`,
  send: '发送',
  stop: '停止',
  intent: '什么时候读到',
  steerChoice: '下一步之前',
  followUpChoice: '这件事做完以后',
  mode: '它可以不问就做的事',
  model: '模型',
  noModel: '选择模型',
  connectFirst: '先连接一个模型，才能开始。',
  connect: '连接模型',
  chooseFirst: '先选择一个模型，才能开始。',
  useModel: (name) => `使用 ${name}`,
  effort: '思考',
  efforts: { usual: '默认思考', low: '简短', medium: '适中', high: '深入', max: '最深入' },
  modes: { ask: '先问我', edit: '放手改', plan: '只做计划', auto: '自动' },
  modeNotes: {
    ask: '自己读取，每次改动或运行命令前都会问',
    edit: '自己改动文件，运行命令和删除前会问',
    plan: '只读取和计划，不做任何改动',
    auto: '自己改动文件、运行命令，但只限此文件夹、不联网；删除或联网前会问',
  },
  modeNotCaged: '这台电脑上无法使用：不能把命令限制在此文件夹内',
  notSent: '没有发出。',
};

export const waiting: Texts['waiting'] = {
  steer: '会在下一步之前读到',
  asked: '你回答上面之后就会读到',
  followUp: '会在这件事做完以后读到',
  held: '你停止后一直等着，会随你的下一条消息一起读到',
  send: '现在发送',
  sendLabel: (text) => `现在发送消息“${text}”`,
  remove: '移除',
  removeLabel: (text) => `移除消息“${text}”`,
};
