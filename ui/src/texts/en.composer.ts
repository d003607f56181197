// Words of the composer and of messages that wait. `zh.composer.ts` has the same shape.

export const composer = {
  message: 'Message',
  start: 'Say what you want done…',
  steer: 'Add something, or change direction…',
  replies: {
    answer: {
      hint: 'Answer the question…',
      note: 'Sending this answers the question above:',
      send: 'Send as the answer',
    },
    refuse: {
      hint: 'Say what to do instead (this doesn’t allow the step)…',
      note: 'Sending this refuses the step and tells Daybook:',
      send: 'Don’t allow, and say this',
    },
    wait: { hint: 'Answer above first, or add something…' },
  },
  keyElsewhere: (key: string) => `Nothing was allowed. ${key} works inside the request.`,
  send: 'Send',
  stop: 'Stop',
  intent: 'When to read it',
  steerChoice: 'Before the next step',
  followUpChoice: 'After this is done',
  mode: 'What it may do without asking',
  model: 'Model',
  noModel: 'Choose a model',
  connectFirst: 'Connect a model first, then this can begin.',
  connect: 'Connect a model',
  chooseFirst: 'Choose a model, then this can begin.',
  useModel: (name: string) => `Use ${name}`,
  effort: 'Thinking',
  efforts: {
    usual: 'Usual thinking',
    low: 'Brief',
    medium: 'Medium',
    high: 'Thorough',
    max: 'Most thorough',
  },
  modes: { ask: 'Ask first', edit: 'Edit freely', plan: 'Plan only', auto: 'Auto' },
  modeNotes: {
    ask: 'Reads by itself, asks before every change or command',
    edit: 'Changes files by itself, asks before commands and deleting',
    plan: 'Reads and plans, changes nothing',
    auto: 'Changes files and runs commands only in this folder and without internet, asks before deleting or going online',
  },
  modeNotCaged: 'Not possible on this computer: it can’t keep commands to this folder',
  notSent: 'Not sent.',
};

export const waiting = {
  steer: 'Will be read before the next step',
  asked: 'Will be read once you answered above',
  followUp: 'Will be read when this is done',
  held: 'Waits since you stopped; goes with your next message',
  send: 'Send now',
  sendLabel: (text: string) => `Send the message “${text}” now`,
  remove: 'Remove',
  removeLabel: (text: string) => `Remove the message “${text}”`,
};
