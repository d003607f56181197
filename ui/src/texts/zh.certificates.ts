// Words about certificates of services, in Simplified Chinese; same shape as `en.certificates.ts`.
import type { Texts } from './en';
import type {
  certificateErrors as Errors,
  certificateFailures as Failures,
  certificateTodo as Todo,
} from './en.certificates';
import { spaced } from './spacing';

export const certificates: Texts['certificates'] = {
  open: '证书…',
  title: '这个服务使用自有证书',
  lead: '用于公司的服务或自己的服务器：请选择签发服务器证书的那个颁发机构的证书。除电脑本来信任的之外，它只对这个服务有效。',
  choose: '选择文件…',
  replace: '选择其他文件…',
  remove: '不再信任',
  note: '自有证书',
  noteExpired: '自有证书已过期',
  until: (day) => `有效期至 ${day}`,
  expired: (day) => `已于 ${day} 过期`,
  fingerprint: 'SHA-256 指纹',
  trusted: '对这个服务信任：',
};

export const certificateErrors: typeof Errors = {
  'tls/untrusted': (who) => `${spaced(who, 'after')}的证书不是由这台电脑信任的机构签发的。`,
  'tls/expired': (who) => `${spaced(who, 'after')}的证书已过期。`,
  'tls/not_yet': (who) => `${spaced(who, 'after')}的证书还没有生效。`,
  'tls/name': (who) => `${spaced(who, 'after')}出示的是另一个地址的证书。`,
  'tls/revoked': (who) => `${spaced(who, 'after')}的证书已被吊销。`,
  'tls/authority': (who) => `${spaced(who, 'after')}出示的是颁发机构的证书，应换成由该机构为它签发的证书。`,
  'tls/other': (who) => `${spaced(who, 'after')}的证书无法核实。`,
};

export const certificateTodo: typeof Todo = {
  own: '如果这个服务使用自有证书，请在“设置”的“模型与密钥”里选择它。否则，可能有人在中间读取内容。',
  clock: '这台电脑的时间准确吗？',
  renew: '需要由运行服务器的人来更改。',
};

export const certificateFailures: typeof Failures = {
  'certificate/file': '这个文件无法读取。',
  'certificate/not_pem': '这个文件里没有证书。它应该是以 -----BEGIN CERTIFICATE----- 开头的文本。',
  'certificate/unreadable': '这个文件里有一个证书已损坏，或属于无法使用的类型。',
  'certificate/private_key':
    '这个文件里有私钥。私钥必须留在服务器上，所以什么都没有取用：请选择只含证书的文件。',
  'certificate/not_authority': '这是服务器的证书，不能为别人担保。请选择签发它的颁发机构的证书。',
  'certificate/expired': '这个证书已过期。请向运行服务的人索取新的证书。',
  'certificate/too_many': '这个文件里的内容超出了一个服务的证书。',
  'certificate/failed': '没能保存或移除。请检查磁盘后再试。',
};
