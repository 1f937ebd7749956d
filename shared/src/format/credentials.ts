/** Shown while the user of an expired session has not signed in again. */
export const SESSION_EXPIRED = '登录已过期，你的对话都在';

/** Pattern of a field's label and separator; Latin labels need a colon or `=`, since user names may look like them. */
const label = (chinese: string, latin: string): string =>
  `(?:(?:${chinese})[\\s:=→*\\]】」-]*(?:[是为]\\s*)?|(?:^|[\\s,;(])(?:${latin})\\s*[:=]\\s*)`;

function credentials(): RegExp[] {
  const login = label('用户名?|登录名|[账帐賬帳]\\s*[号號户戶]名?|手机号?|邮箱', 'account|user(?:name)?|login|id');
  const password = label('密\\s*[码碼]|口令', 'password|pass|pwd');
  const name = '["\']?(?<login>[^\\s:,;、。|/*=→"\'【】「」]+';
  const between = '[\\s,;、|/*"\'【「。]*(?:我的)?[*【「]*';
  // a field ends at a line break, and text of the next line may follow without a gap
  const word = '(?:"(?<quoted>[^"\\s]+)"|(?<password>[!-~]+?(?=[,;]*[^!-~]|$)|\\S+))';
  const patterns = [
    `${login}${name}?)${between}${password}${word}`,
    `${password}["']?(?<password>[!-~]+?)${between}${login}${name})`,
  ];
  return patterns.map((pattern) => new RegExp(pattern, 'iu'));
}

/** Extracts user name and password from the text that the product copies after a registration, or a similar one. */
export function copiedCredentials(text: string): { login: string; password: string } | undefined {
  const plainText = text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  for (const pattern of credentials()) {
    const { login, quoted, password = quoted } = pattern.exec(plainText)?.groups ?? {};
    if (login && password) return { login, password };
  }
  return undefined;
}
