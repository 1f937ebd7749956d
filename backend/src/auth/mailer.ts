import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
