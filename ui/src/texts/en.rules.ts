// Words about the person's own rules, in English. `zh.rules.ts` has the same shape.
import { permissions } from './en.permissions';

const { acts } = permissions;

export const rules = {
  title: 'Your rules',
  lead: 'A rule can only narrow. The strictest one wins, and “Never” is lifted by no mode, no permission and no yes.',
  label: (what: string) => `Rule for: ${what}`,
  /** What a rule is about, in every folder. */
  about: {
    read: acts.read,
    change: acts.write,
    delete: acts.delete,
    run: 'Run commands',
    online: 'Go online',
    publish: acts.publish,
    secrets: acts.secret,
    command: 'Commands of a kind',
    path: 'A file or folder',
    commandOf: (words: string) => `Commands like “${words}”, however they are written`,
    pathOf: (path: string) => `${path} and everything in it`,
    /** A file there can be reached by other names that couldn't all be kept out. */
    namesOf: (path: string) =>
      `${path} and everything in it. A file there also has other names, and not all of them can be told`,
  },
  outside: 'Anything outside the folder',
  outsideNote: 'Only a folder you add can be looked at, and nothing is ever written there.',
  words: {
    allow: 'Allow',
    mode: 'As the mode says',
    ask: 'Ask me',
    always: 'Always ask me',
    never: 'Never',
  },
  /** Which setting wins. */
  wins: {
    allow: 'Allowed in every mode',
    mode: 'The mode of the session decides',
    publish: 'It can’t be taken back once sent, so it always asks',
    secrets: 'It always asks',
    online: 'It asks, except for sites you allowed',
    ask: 'Your rule wins: you are asked, whatever is allowed elsewhere',
    never: 'Your rule wins: it is refused',
    readNever: 'Your rule wins: it is refused. Commands that do more than look ask, since they read, too',
    changeNever: 'Your rule wins: it is refused, and so are commands that do more than look',
    deleteNever:
      'Your rule wins: it is refused. Commands that do more than look ask, since they could delete',
    secretsNever:
      'Files that hold secrets aren’t read. A command whose words don’t show what it reads is asked about.',
    publishNever:
      'Nothing is sent, published or uploaded. A command that goes online for another reason is asked about, since it could send.',
  },
  /** Where the kept rules can't be read. */
  unreadable: {
    title: 'Your rules can’t be read, so Daybook asks about everything.',
    modes: 'What each mode does by itself isn’t shown here while your rules can’t be read.',
    start: 'Start again without rules…',
    sure: 'Your old rules, each “Never” too, are then gone for good and hold nothing back any more. Set the ones you want again.',
    yes: 'Start without rules',
  },
  everywhere: 'Every folder',
  inFolder: (folder: string) => `Only in ${folder}`,
  gone: 'The folder isn’t there',
  add: 'Add a rule…',
  what: 'What',
  where: 'Where',
  then: 'Then',
  commandField: 'Command',
  commandHint: 'git push',
  pathField: 'Path in the folder',
  pathHint: 'accounts',
  save: 'Add rule',
  remove: 'Remove',
  removeOf: (what: string) => `Remove the rule: ${what}`,
  /** Behind a verdict in the table that a rule of the person gives. */
  yours: 'your rule',
};
