import { SENTENCES } from './sentenceTable.ts';

/** Names of the gate's checks, in English and in Chinese. */
export const CHECKS = {
  'stored files': '存储的文件',
  'served headers': '响应头',
  sharing: '共享',
  contract: '契约',
  routes: '地址',
  globals: '全局变量',
  exposes: '对外模块',
  slots: '插槽',
  federation: '联邦版本',
  'shared libraries': '共享库',
  'size budget': '体积预算',
  'host page': '主程序页面',
  'headless smoke': '浏览器检查',
  promotion: '带去',
} as const;
export type Check = keyof typeof CHECKS;

const DAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';

/** Patterns of placeholders, strict enough to distinguish sentences. */
const PLACEHOLDER_PATTERNS: Readonly<Record<string, string>> = {
  build: '[a-z][\\w-]*@\\S+',
  check: Object.keys(CHECKS).join('|'),
  failure: '[\\w-]+',
  file: '\\S+',
  path: '\\S+',
  visitor: 'guest|member',
  count: '\\d+',
  seq: '\\d+',
  status: '\\d+',
  instant: '[\\dTZ:.-]{20,24}',
  end: '[\\dTZ:.-]{20,24}',
  channel: '[a-z][\\w-]*',
  hash: '[0-9a-f]{8,64}',
  slotName: '[\\w.-]+',
  fromDay: DAYS,
  toDay: DAYS,
  fromTime: '\\d\\d:\\d\\d',
  toTime: '\\d\\d:\\d\\d',
  zone: '\\S+',
};

export type SentenceKind = keyof typeof SENTENCES;
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type NamesOf<Kind extends SentenceKind> = Names<(typeof SENTENCES)[Kind][0]>;
type Values<Kind extends SentenceKind> = [NamesOf<Kind>] extends [never]
  ? []
  : [Record<NamesOf<Kind>, string | number>];

export const fill = (template: string, values: Readonly<Record<string, string | number>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));

export const say = <Kind extends SentenceKind>(kind: Kind, ...[values]: Values<Kind>): string =>
  fill(SENTENCES[kind][0], values ?? {});

function patternOf(template: string) {
  const names: string[] = [];
  const source = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, (_, name: string) => {
    names.push(name);
    return `(${PLACEHOLDER_PATTERNS[name] ?? '.+?'})`;
  });
  return { names, pattern: new RegExp(`^${source}$`, 's') };
}

/** Makes a parser that returns kind and values of a sentence; null for an unknown one. */
export function createSentenceParser() {
  const templates = Object.entries(SENTENCES).map(([kind, [template]]) => ({
    kind: kind as SentenceKind,
    ...patternOf(template),
  }));
  return (text: string): { kind: SentenceKind; values: Record<string, string> } | null => {
    for (const { kind, names, pattern } of templates) {
      const match = pattern.exec(text);
      if (match) return { kind, values: Object.fromEntries(names.map((name, at) => [name, match[at + 1] ?? ''])) };
    }
    return null;
  };
}

// a method's type, since TypeScript lets a method take one kind of the union; `lineByKind` ensures that it is the right one
type Line<One> = { of(one: One): string }['of'];

/** A function for each kind of a union, which describes it in one line. */
export type LinesByKind<One extends { kind: string }> = { [Kind in One['kind']]: Line<One & { kind: Kind }> };

export function lineByKind<One extends { kind: string }>(lines: LinesByKind<One>, one: One): string {
  const line: Line<One> = lines[one.kind as One['kind']];
  return line(one);
}
