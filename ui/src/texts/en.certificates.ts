// Words about certificates of services, in English. `zh.certificates.ts` has the same shape.
export const certificates = {
  open: 'Certificate…',
  title: 'This service uses its own certificate',
  lead: 'For a company’s service, or a server of your own: choose the certificate of the authority that signed the server’s. It is trusted for this service only, beside those your computer trusts.',
  choose: 'Choose the file…',
  replace: 'Choose another file…',
  remove: 'Stop trusting it',
  note: 'own certificate',
  noteExpired: 'own certificate, expired',
  until: (day: string) => `Valid until ${day}`,
  expired: (day: string) => `Expired on ${day}`,
  fingerprint: 'SHA-256 fingerprint',
  trusted: 'Trusted for this service:',
};

/** What is wrong with the certificate that a server showed. */
export const certificateErrors = {
  'tls/untrusted': (who: string) => `The certificate of ${who} isn’t signed by anyone this computer trusts.`,
  'tls/expired': (who: string) => `The certificate of ${who} has expired.`,
  'tls/not_yet': (who: string) => `The certificate of ${who} isn’t valid yet.`,
  'tls/name': (who: string) => `${who} shows a certificate for another address.`,
  'tls/revoked': (who: string) => `The certificate of ${who} was revoked.`,
  'tls/authority': (who: string) =>
    `${who} shows an authority’s certificate. It needs one that the authority signed for it.`,
  'tls/other': (who: string) => `The certificate of ${who} can’t be checked.`,
};

/** What can be done about it. */
export const certificateTodo = {
  own: 'If the service has a certificate of its own, choose it in Settings, Models and keys. Otherwise someone on the way may be reading along.',
  clock: 'Is the clock of this computer right?',
  renew: 'Whoever runs the server has to change that.',
};

/** Why a file isn’t trusted. */
export const certificateFailures = {
  'certificate/file': 'The file can’t be read.',
  'certificate/not_pem':
    'There is no certificate in this file. It has to be text that begins with -----BEGIN CERTIFICATE-----.',
  'certificate/unreadable': 'A certificate in this file is damaged or of a kind that can’t be used.',
  'certificate/private_key':
    'There is a private key in this file. It must stay on the server, so nothing was taken: choose a file with the certificate alone.',
  'certificate/not_authority':
    'This is a server’s certificate, which vouches for nobody else. Choose that of the authority that signed it.',
  'certificate/expired': 'This certificate has expired. Ask whoever runs the service for the new one.',
  'certificate/too_many': 'There is more in this file than the certificates of one service.',
  'certificate/failed': 'It couldn’t be kept or removed. Look at the disk, then try again.',
};
