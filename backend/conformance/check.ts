import type { Call } from './calls.ts';
import type { VisitorAnswer } from './visitor.ts';
import type { World } from './world.ts';

/** One thing that a backend does, found out from outside. */
export interface Check {
  call: Call;
  /** what holds, as a sentence about the call */
  name: string;
  /** what the product does where it does not hold; left out where the product cannot do without it */
  otherwise?: string;
  /** Throws `Deviation` where it does not hold, `Untried` where it could not be found out. */
  run(world: World): Promise<void>;
}

/** The checks of one call, in the order in which they run. */
export const checksOf = (call: Call, checks: Omit<Check, 'call'>[]): Check[] =>
  checks.map((check) => ({ call, ...check }));

/** The backend does otherwise. */
export class Deviation extends Error {
  readonly came: string;
  /** of the answer that was looked at */
  readonly status: number | undefined;

  constructor(came: string, status?: number) {
    super(came);
    this.came = came;
    this.status = status;
  }
}

/** Nothing can be said, because something else that it needs did not work. */
export class Untried extends Error {}

/** No answer came, or not all of it: the connection was refused, broken off, stayed silent or never ended. */
export class NoAnswer extends Error {}

const SHOWN_CHARACTERS = 160;

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
};

/** An answer as it is reported: its status and the beginning of its body. */
export function shown({ status, headers, body, text }: VisitorAnswer): string {
  const type = headers.get('content-type')?.split(';')[0];
  const isForeign = text !== '' && body === null;
  return [status, isForeign && type, oneLine(text)].filter(Boolean).join(' ');
}

export const shownValue = (value: unknown): string => oneLine(JSON.stringify(value) ?? 'nothing');

/** Throws unless the answer has one of these statuses. */
export function expectStatus(answer: VisitorAnswer, ...allowed: number[]): void {
  if (!allowed.includes(answer.status)) throw new Deviation(shown(answer), answer.status);
}

/** Throws unless the answer is a success. */
export function expectSuccess(answer: VisitorAnswer): void {
  if (answer.status < 200 || answer.status > 299) throw new Deviation(shown(answer), answer.status);
}

/** Throws unless it holds, with what came instead. */
export function expectThat(holds: boolean, came: string | (() => string)): asserts holds {
  if (!holds) throw new Deviation(typeof came === 'string' ? came : came());
}

/** Throws unless it is a refusal that names at least one of these fields. */
export function expectFieldErrors(answer: VisitorAnswer, ...fields: string[]): void {
  expectStatus(answer, 422);
  const problem = laravelProblem(answer);
  if (problem) throw new Deviation(problem, answer.status);
  const { errors } = answer.body as { errors: object };
  expectThat(
    fields.some((field) => field in errors),
    () => shown(answer),
  );
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** What is wrong with a refusal in Laravel's eyes: it has a message, and with 422 at least one field with its messages. */
export function laravelProblem(answer: VisitorAnswer): string | null {
  if (answer.status >= 500) return shown(answer);
  if (answer.status < 400) return null;
  const { message, errors } = (answer.body ?? {}) as { message?: unknown; errors?: unknown };
  if (!isText(message)) return `${shown(answer)}, which has no message`;
  if (answer.status !== 422) return null;
  const isBag = typeof errors === 'object' && errors !== null && !Array.isArray(errors);
  const fields = isBag ? Object.values(errors) : [];
  const isTexts = (texts: unknown) => Array.isArray(texts) && texts.length > 0 && texts.every(isText);
  const isWhole = fields.length > 0 && fields.every(isTexts);
  return isWhole ? null : `${shown(answer)}, whose errors are not {field: [text]}`;
}
