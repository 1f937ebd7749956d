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

export interface ActionContext {
  channel: () => string;
  seq: () => number;
  status: () => ChannelDocument | null;
  say: (line: string) => void;
  refresh: () => Promise<void>;
}

export function createActions(context: ActionContext): Actions {
  const path = (verb: string) => `${verb}?channel=${encodeURIComponent(context.channel())}`;

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

  const change: Actions['change'] = async (verb, body, question) => {
    const answer = await confirmChange(question);
    if (!answer) return;
    await run(async () => {
      const { changed, document } = await post<Changed>(path(verb), { ...body, why: answer.why, seq: context.seq() });
      context.say(changed ? texts.done.changed(document.seq) : texts.done.unchanged);
    });
  };

  return {
    change,
    rollback: async ({ name, to, title }) => {
      const changes = await rollbackChanges(context, name, to).catch(notPossible);
      if (changes)
        await change('rollback', { name, to }, { title, action: texts.live.rollback, changes, danger: true });
    },
    check: (build) =>
      run(async () => {
        const results = await post<{ check: string; problems: string[] }[]>(path('check'), { builds: [build] });
        const problems = results.flatMap(({ check, problems: found }) => found.map((line) => `${check}: ${line}`));
        if (problems.length > 0) throw new ApiFailure(422, build, problems);
        context.say(texts.done.checked);
      }),
    override: (build) =>
      run(async () => {
        const { query } = await post<{ query: string }>(path('override'), { builds: [build], hours: 2 });
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
async function rollbackChanges(context: ActionContext, name?: string, to?: number): Promise<string[]> {
  const channel = `channel=${encodeURIComponent(context.channel())}`;
  const target = to ?? (await get<{ seq: number }>(`before?${channel}${name ? `&name=${name}` : ''}`)).seq;
  const differences = await get<Difference[]>(`diff?a=stable&b=${target}&${channel}`);
  return differences.filter((difference) => !name || difference.name === name).map(changeLine);
}
