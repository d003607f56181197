// The stand-in's services: keys are "stored" by noting that there is one, and a check answers by the address.
import type { Command } from '../generated/Command';
import type { Provider } from '../generated/Provider';
import type { ProviderCertificate } from '../generated/ProviderCertificate';

type About = Extract<
  Command,
  {
    name:
      | 'providers'
      | 'set_key'
      | 'forget_key'
      | 'save_provider'
      | 'remove_provider'
      | 'check_provider'
      | 'choose_certificate'
      | 'remove_certificate';
  }
>;

/** What the stand-in's dialog always chooses. */
const OFFICE: ProviderCertificate = {
  subject: 'Office authority, Example Ltd',
  fingerprint: '9c1f'.repeat(16),
  until: Date.UTC(2031, 10, 6, 12),
  expired: false,
};

export function answerProviders(all: Provider[], command: About): Provider[] {
  switch (command.name) {
    case 'providers':
      return all;
    case 'set_key':
      return change(all, command.args.provider, { key: 'stored', check: null });
    case 'forget_key':
      return change(all, command.args.provider, { key: 'missing', check: null });
    case 'remove_provider':
      return all.filter((provider) => provider.id !== command.args.provider);
    case 'choose_certificate':
      return change(all, command.args.provider, { certificates: [OFFICE], check: null });
    case 'remove_certificate':
      return change(all, command.args.provider, { certificates: [], check: null });
    case 'check_provider':
      return change(all, command.args.provider, { check: { ok: true, facts: {} } });
    case 'save_provider': {
      const draft = command.args.provider;
      const { name, dialect, base_url, models, context_tokens } = draft;
      const said = { name, dialect, base_url, models, context_tokens };
      if (draft.id !== null) return change(all, draft.id, { ...said, check: null });
      const id = `own_${all.length}`;
      return [
        ...all,
        { ...said, id, efforts: {}, key: 'missing', custom: true, certificates: [], check: null },
      ];
    }
  }
}

function change(all: Provider[], id: string, part: Partial<Provider>): Provider[] {
  return all.map((provider) => (provider.id === id ? { ...provider, ...part } : provider));
}
