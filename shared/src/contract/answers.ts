/** What a server answers, by request: `GET /v1/stories`. A value that is no whole response is the body of a 200. */
export type Answers = Record<string, unknown>;

/** A whole response. */
export interface WholeAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

const PARTS = ['status', 'body', 'headers'];

const isWhole = (answer: unknown): answer is WholeAnswer =>
  typeof answer === 'object' &&
  answer !== null &&
  'status' in answer &&
  typeof answer.status === 'number' &&
  Object.keys(answer).every((key) => PARTS.includes(key));

export const wholeAnswer = (answer: unknown): WholeAnswer => (isWhole(answer) ? answer : { status: 200, body: answer });
