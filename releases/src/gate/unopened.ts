import { GATE_FILE, type GateFile } from '@liaozhai/shared/contract';
import { buildFolder, type RemoteRecord } from '../model/build.ts';
import { say } from '../sentences.ts';
import type { GateSubject } from './gate.ts';
import { isLikelyOn } from './visits.ts';
import type { Walk } from './walk.ts';

/** A running judgement of a set in the browser. */
export interface Trial {
  subject: GateSubject;
  walk: Walk;
  /** What each remote tells the gate; null for a build without that file. */
  files: ReadonlyMap<RemoteRecord, GateFile | null>;
}

type Slot = RemoteRecord['description']['slots'][number];

export const isScript = (path: string): boolean => /\.m?js$/.test(path);

/** Scripts and stylesheets of a build that come after its entry and module. */
export const lateFiles = ({ set }: GateSubject, { id, description }: RemoteRecord): string[] => {
  const folder = `/${buildFolder(id)}/`;
  const early = [description.entry, ...description.module.js, ...description.module.css].map((path) => folder + path);
  return Object.keys(set.hashes).filter((path) => path.startsWith(folder) && !early.includes(path));
};

/** `static/js/story.sheet.efc9fb53.js` → `story.sheet` */
const chunkOf = (path: string) => path.replace(/^.*\//, '').replace(/([.-][\w-]{8,})?\.m?js$/, '');

/** Late files that no page loaded, by their path in the build. */
const closedFiles = ({ subject, walk }: Trial, remote: RemoteRecord): string[] =>
  lateFiles(subject, remote)
    .filter((path) => !walk.ran.has(path))
    .map((path) => path.slice(buildFolder(remote.id).length + 2));

const closedScripts = (trial: Trial, remote: RemoteRecord): string[] => closedFiles(trial, remote).filter(isScript);

/** Slots of which no page ran a script of their own, as far as is known: nobody knows the scripts of a guest's. */
export const closedSlots = ({ walk }: Trial, { id, description }: RemoteRecord): Slot[] =>
  description.slots.filter(({ js }) => js.every((path) => !walk.ran.has(`/${buildFolder(id)}/${path}`)));

/** The same without a guest's where all of its scripts have run. */
export const unseenSlots = (trial: Trial, remote: RemoteRecord): Slot[] =>
  closedSlots(trial, remote).filter(({ js }) => js.length > 0 || closedScripts(trial, remote).length > 0);

const reasonOf = (file: GateFile | null | undefined, name: string): string | undefined =>
  file && Object.hasOwn(file.unopened, name) ? file.unopened[name] : undefined;

/** The same without those that the remote gives a reason for. */
export const unexplainedScripts = (trial: Trial, remote: RemoteRecord): string[] =>
  closedScripts(trial, remote).filter((path) => !reasonOf(trial.files.get(remote), chunkOf(path)));

/** Whether this set could have shown the slot: a page that it is named after is there, with what its calls are answered. */
function couldOpen({ subject, files }: Trial, slot: Slot): boolean {
  const holders = subject.remotes.filter(({ description }) =>
    description.routes.some((route) => isLikelyOn(slot.name, route)),
  );
  return slot.js.length > 0 && holders.some((holder) => files.get(holder));
}

/**
 * What no page opened of a remote. Findings are what it could have had opened and gives no reason for; a build that tells the gate
 * nothing has none.
 */
export function unopened(trial: Trial, remote: RemoteRecord): { findings: string[]; notes: string[] } {
  const file = trial.files.get(remote);
  const slots = unseenSlots(trial, remote);
  // stylesheets come with scripts; other tools may leave one that nothing loads
  const late = file ? closedScripts(trial, remote) : closedFiles(trial, remote);
  const all = [
    ...slots.map(({ name }) => ({ name, word: say('slotNamed', { slotName: name }) })),
    ...late.map((path) => ({ name: chunkOf(path), word: path })),
  ];
  const explained = all.filter(({ name }) => reasonOf(file, name));
  const open = all.filter((each) => !explained.includes(each));
  const isExcused = slots.some((slot) => !reasonOf(file, slot.name) && !couldOpen(trial, slot));
  const words = open.map(({ word }) => word).join(', ');
  const notes = explained.map(({ name, word }) => `${remote.id}: ${word} was not opened: ${reasonOf(file, name)}`);
  if (!words) return { findings: [], notes };
  if (!file || isExcused) return { findings: [], notes: [`${remote.id}: no page opened ${words}`, ...notes] };
  const problem = say('unopened', { parts: words, file: GATE_FILE });
  return { findings: [say('ofBuild', { build: remote.id, problem })], notes };
}
