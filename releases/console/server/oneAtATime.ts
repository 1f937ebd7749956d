import { refused } from '../../src/errors.ts';

const MOST_OF_ONE = 3;

/** Runs one work after another, in the order they came; nobody can fill the row. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Map<string, number>();

  /** Throws refused if three works of this caller wait or run already. */
  async run<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    const waiting = this.#waiting.get(caller) ?? 0;
    if (waiting >= MOST_OF_ONE)
      throw refused(`${waiting} browser checks of yours are waiting already`, 'Wait until they are done.');
    this.#waiting.set(caller, waiting + 1);
    const mine = this.#last.then(work, work);
    this.#last = mine;
    try {
      return await mine;
    } finally {
      this.#leave(caller);
    }
  }

  #leave(caller: string): void {
    const left = (this.#waiting.get(caller) ?? 1) - 1;
    if (left > 0) this.#waiting.set(caller, left);
    else this.#waiting.delete(caller);
  }
}
