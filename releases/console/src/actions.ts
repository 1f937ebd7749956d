import { ApiFailure, get, post } from './api';
import { confirmChange, type Question, tell } from './confirm';
import { type ChannelDocument, changeLine, type Difference } from './model';
import { texts } from './texts';

interface Changed {
  changed: boolean;
  document: ChannelDocument;
}

/** What the sections can ask for; each tells how it went and has the page look again. */
export interface Actions {
  change(verb: string, body: object, question: Question): Promise<void>;
  rollback(question: { name?: string; to?: number; title: string }): Promise<void>;
  check(build: string): Promise<void>;
  override(build: string): Promise<void>;
}

/** The state a person saw when deciding. The page goes on being refreshed behind the dialog, so it is taken before asking. */
interface Decided {
  channel: string;
  seq: number;
}

export interface ActionContext {
  /** What the page shows now. */
  status: () => ChannelDocument | null;
  say: (line: string) => void;
  refresh: () => Promise<void>;
}

const path = (verb: string, { channel }: Decided): string => `${verb}?channel=${encodeURIComponent(channel)}`;

export function createActions(context: ActionContext): Actions {
  function decided(): Decided {
    const { channel = '', seq = 0 } = context.status() ?? {};
    return { channel, seq };
  }

  async function run(work: () => Promise<void>): Promise<void> {
    context.say(texts.busy);
    try {
      await work();
    } catch (cause) {
      if (!(cause instanceof ApiFailure)) throw cause;
      context.say(cause.message);
      await tell(cause.message, cause.lines);
    }
    await context.refresh();
  }

  async function change(verb: string, body: object, question: Question, seen: Decided): Promise<void> {
    const answer = await confirmChange(question);
    if (!answer) return;
    await run(async () => {
      const request = { ...body, why: answer.why, seq: seen.seq };
      const { changed, document } = await post<Changed>(path(verb, seen), request);
      context.say(changed ? texts.done.changed(document.seq) : texts.done.unchanged);
    });
  }

  return {
    change: (verb, body, question) => change(verb, body, question, decided()),
    rollback: async ({ name, to, title }) => {
      const seen = decided();
      const changes = await rollbackChanges(seen, name, to).catch(notPossible);
      const question = { title, action: texts.live.rollback, danger: true };
      if (changes) await change('rollback', { name, to }, { ...question, changes }, seen);
    },
    check: (build) =>
      run(async () => {
        const results = await post<{ check: string; problems: string[] }[]>(path('check', decided()), {
          builds: [build],
        });
        const problems = results.flatMap(({ check, problems: found }) => found.map((line) => `${check}: ${line}`));
        if (problems.length > 0) throw new ApiFailure(422, [build, ...problems]);
        context.say(texts.done.checked);
      }),
    override: (build) =>
      run(async () => {
        const { query } = await post<{ query: string }>(path('override', decided()), { builds: [build], hours: 2 });
        context.say('');
        await tell(texts.done.override, [query]);
      }),
  };
}

async function notPossible(cause: unknown): Promise<null> {
  if (!(cause instanceof ApiFailure)) throw cause;
  await tell(cause.message, cause.lines);
  return null;
}

/** The server names the state a rollback would go to, so that the dialog tells what will really happen. */
async function rollbackChanges(seen: Decided, name?: string, to?: number): Promise<string[]> {
  const named = name ? `&name=${encodeURIComponent(name)}` : '';
  const target = to ?? (await get<{ seq: number }>(`${path('before', seen)}${named}`)).seq;
  const differences = await get<Difference[]>(`${path('diff', seen)}&a=${seen.seq}&b=${target}`);
  return differences.filter((difference) => !name || difference.name === name).map(changeLine);
}
