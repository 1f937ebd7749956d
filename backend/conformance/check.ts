import type { Call } from './calls.ts';
import type { VisitorAnswer } from './visitor.ts';
import type { World } from './world.ts';

/** A check of one behaviour of a backend, through its API. */
export interface Check {
  call: Call;
  /** expected behaviour, as a sentence about the call */
  name: string;
  /** what the product does if the check fails; absent if the product needs it */
  otherwise?: string;
  /** Throws `Deviation` if the check fails, `Untried` if it could not be run. */
  run(world: World): Promise<unknown>;
}

type Run = Check['run'];
type Tolerated = Required<Pick<Check, 'otherwise' | 'run'>>;

/** A check that the product does without: `otherwise` is what it then does. */
export const tolerated = (run: Run, otherwise: string): Tolerated => ({ otherwise, run });

export const checksOf = (call: Call, checks: Record<string, Run | Tolerated>): Check[] =>
  Object.entries(checks).map(([name, check]) => ({
    call,
    name,
    ...(typeof check === 'function' ? { run: check } : check),
  }));

/** Thrown if the backend deviates from the contract. */
export class Deviation extends Error {
  /** @param status of the checked response */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

/** Thrown if a check cannot run, because a call that it needs failed. */
export class Untried extends Error {}

/** Thrown without a complete response: the connection was refused, broke off or timed out. */
export class NoAnswer extends Error {}

/** Returns the code or message of an error's cause: the message of `fetch` is only "fetch failed". */
export function reasonOf(error: unknown): string {
  const { code, message }: NodeJS.ErrnoException = ((error as Error).cause ?? error) as Error;
  return code ?? message;
}

export function parseJson(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

const SHOWN_CHARACTERS = 160;

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
};

/** Describes a response by its status and the beginning of its body, and any other value as JSON. */
export function shown(value: unknown): string {
  const { status, headers, body, text = '' } = (value ?? {}) as Partial<VisitorAnswer>;
  if (!(headers instanceof Headers)) return oneLine(JSON.stringify(value) ?? 'nothing');
  const type = headers.get('content-type')?.split(';')[0];
  const isForeign = text !== '' && body === null;
  return [status, isForeign && type, oneLine(text)].filter(Boolean).join(' ');
}

/** Throws `Deviation` with `came`, the actual result or a text about it, unless `holds`. */
export function expectThat(holds: boolean, came: unknown): asserts holds {
  if (!holds) throw new Deviation(typeof came === 'string' ? came : shown(came));
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Returns how an error differs from Laravel's shape: a message, and for 422 at least one field with messages. */
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
