// Which catalogue is on: the person's choice, or the computer's language.
import { en, type Texts } from './en';
import { zh } from './zh';

export type { Facts, Texts } from './en';
export type Language = 'en' | 'zh-CN';

/** The language a setting stands for; `system` asks the list of languages the computer prefers. */
export function languageOf(setting: string, preferred: readonly string[]): Language {
  if (setting === 'en' || setting === 'zh-CN') return setting;
  const first = preferred.find((tag) => /^(zh|en)\b/i.test(tag)) ?? 'en';
  return first.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

export function textsFor(language: Language): Texts {
  return language === 'zh-CN' ? zh : en;
}
