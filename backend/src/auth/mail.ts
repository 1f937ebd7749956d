import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserRow } from '../db/schema.ts';
import type { Http } from '../http/http.ts';
import { productOrigin } from '../http/origin.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { hmac, sameText } from '../signatures.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** Delivers a mail; returns where it went. */
  send(mail: Mail): string;
}

const encodedWord = (text: string): string => `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;

const wrapped = (base64: string): string => base64.replace(/.{76}/g, '$&\r\n');

/** Puts each mail as an `.eml` file into a folder, where any mail program opens it. */
export function fileMailer(folder: string, clock: () => number): Mailer {
  let count = 0;
  return {
    send({ to, subject, text }) {
      mkdirSync(folder, { recursive: true });
      count += 1;
      const path = join(folder, `${clock()}-${process.pid}-${count}.eml`);
      const lines = [
        `From: ${encodedWord('聊斋')} <noreply@liaozhai.invalid>`,
        `To: <${to}>`,
        `Subject: ${encodedWord(subject)}`,
        `Date: ${new Date(clock()).toUTCString()}`,
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: base64',
        '',
        wrapped(Buffer.from(text).toString('base64')),
        '',
      ];
      writeFileSync(path, lines.join('\r\n'), { mode: 0o600 });
      return path;
    },
  };
}

const emailHash = (email: string): string => createHash('sha1').update(email).digest('hex');

const sign = (appKey: string, id: string, hash: string, expires: string): string =>
  hmac(appKey, `verify|${id}|${hash}|${expires}`);

/** Mails the confirmation link and prints it, since this backend's mail stays on the machine. */
export function sendVerification(c: Http, { appKey, clock, env, mailer }: Services, user: UserRow): void {
  const origin = productOrigin(c.get('source'), env.APP_ORIGIN);
  const hash = emailHash(user.login);
  const expires = String(Math.floor(clock() / 1000) + rules.verificationLinkHours * 3600);
  const signature = sign(appKey, user.id, hash, expires);
  const link = `${origin}/email/verify/${user.id}/${hash}?expires=${expires}&signature=${signature}`;
  const text = `${user.name}，你好：\n\n请打开下面的链接，确认你的邮箱（${rules.verificationLinkHours} 小时内有效）：\n\n${link}\n\n如果不是你本人注册，请忽略这封邮件。\n\n聊斋\n`;
  const path = mailer.send({ to: user.login, subject: '确认你的邮箱', text });
  console.log(`mail ${path}\n     ${link}`);
}

/** Whether a link was signed by us for this address and is still good. */
export function isValidLink(
  { appKey, clock }: Services,
  user: UserRow,
  hash: string,
  expires: string,
  signature: string,
): boolean {
  return (
    sameText(signature, sign(appKey, user.id, hash, expires)) &&
    sameText(hash, emailHash(user.login)) &&
    Number(expires) * 1000 > clock()
  );
}
