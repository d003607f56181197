// What a link's target is, before anybody goes there: its kind, and what is worth warning about.

export interface Target {
  /** The address in full, host names in their plain ASCII form. */
  full: string;
  /** Only web and mail addresses may be taken along. */
  usable: boolean;
  /** The link shows another address than it has. */
  differs: boolean;
  /** The address carries much text along. */
  long: boolean;
  /** Letters of several alphabets, or a name that isn't plain ASCII. */
  lookalike: boolean;
}

/** Beyond this the part after the host is more than an address needs. */
const LONG = 120;

export function readTarget(target: string, shown: string): Target {
  const url = parse(target);
  if (!url)
    return { full: target, usable: false, differs: false, long: target.length > LONG, lookalike: false };
  const web = url.protocol === 'https:' || url.protocol === 'http:';
  const mail = url.protocol === 'mailto:';
  return {
    full: web || mail ? url.href : target,
    usable: web || mail,
    differs: web && differs(url, shown),
    long: (url.search + url.hash).length > LONG || dense(url),
    lookalike: url.hostname.split('.').some((part) => part.startsWith('xn--')),
  };
}

function parse(target: string): URL | null {
  try {
    return new URL(target);
  } catch {
    return null;
  }
}

/** The words look like an address, and it is another one. */
function differs(url: URL, shown: string): boolean {
  const words = shown.trim();
  if (!/^(https?:\/\/)?[^\s/]+\.[a-z\u0080-\uffff]{2,}(\/|$)/i.test(words)) return false;
  const named = parse(/^https?:\/\//i.test(words) ? words : `https://${words}`);
  return named !== null && named.hostname !== url.hostname;
}

/** One long run without a break in the path or the query: data rather than a name. */
function dense(url: URL): boolean {
  return /[A-Za-z0-9+/=_%-]{64,}/.test(url.pathname + url.search + url.hash);
}
