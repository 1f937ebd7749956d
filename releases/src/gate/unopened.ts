import { GATE_FILE, type GateFile, type PageBuild, type PageRoute } from '@liaozhai/shared/contract';
import { buildFolder, type RemoteRecord } from '../model/build.ts';
import { say } from '../sentences.ts';
import type { GateSubject } from './gate.ts';
import type { Visit } from './pageWatch.ts';
import type { Visitor } from './visitors.ts';
import type { Walk } from './walk.ts';

const MAX_PAGES_OF_OTHERS = 12;

const visitOf = (build: PageBuild, route: PageRoute, as: Visitor, by = build.id): Visit => ({
  id: build.id,
  path: route.path.replace(/:\w+\??/g, '1').replace(/\/\*$/, ''),
  global: route.requiresAuth || build.entryType ? null : build.global,
  as,
  by,
});

/**
 * Returns visits for the changed remotes: every route as a member, and as a guest the routes without login and one with it. With a new
 * host, also the first route of every other remote.
 */
export function visitsOf({ set, host, changed }: GateSubject): Visit[] {
  const isNew = (id: string) => changed.some((record) => record.id === id);
  return Object.values(set.remotes).flatMap((build) => {
    const routes = isNew(build.id) ? build.routes : isNew(host.id) ? build.routes.slice(0, 1) : [];
    const publicRoutes = routes.filter(({ requiresAuth }) => !requiresAuth);
    const loginRoutes = routes.filter(({ requiresAuth }) => requiresAuth).slice(0, 1);
    return [
      ...routes.map((route) => visitOf(build, route, 'member')),
      ...[...publicRoutes, ...loginRoutes].map((route) => visitOf(build, route, 'guest')),
    ];
  });
}

/** True if a slot's name begins with the route's, as in `story.chat`, so that the route probably shows it. */
const isLikelyOn = (slot: string, { name }: { name: string }): boolean => slot.split('.')[0] === name;

/** Returns other remotes' pages, as a member: `likely` to show these slots, and the `rest` if a slot is likely on none. */
export function pagesForSlots(
  { set }: GateSubject,
  by: string,
  slots: readonly string[],
): { likely: Visit[]; rest: Visit[] } {
  const routesOfSet = Object.values(set.remotes).flatMap((build) => build.routes.map((route) => ({ build, route })));
  const pages = routesOfSet.filter(({ build }) => build.id !== by);
  const visits = (isLikely: boolean) =>
    pages
      .filter(({ route }) => slots.some((slot) => isLikelyOn(slot, route)) === isLikely)
      .slice(0, MAX_PAGES_OF_OTHERS)
      .map(({ build, route }) => visitOf(build, route, 'member', by));
  const hasLikely = (slot: string) => routesOfSet.some(({ route }) => isLikelyOn(slot, route));
  return { likely: visits(true), rest: slots.every(hasLikely) ? [] : visits(false) };
}

/** State of the browser check of a set. */
export interface Trial {
  subject: GateSubject;
  walk: Walk;
  /** Gate file of each remote by build id; null for a build without one. */
  files: ReadonlyMap<string, GateFile | null>;
}

type Slot = RemoteRecord['description']['slots'][number];

export const isScript = (path: string): boolean => /\.m?js$/.test(path);

/** Returns scripts and stylesheets of a build that load after its entry and module. */
export const lateFiles = ({ set }: GateSubject, { id, description }: RemoteRecord): string[] => {
  const folder = `/${buildFolder(id)}/`;
  const earlyPaths = [description.entry, ...description.module.js, ...description.module.css].map(
    (path) => folder + path,
  );
  return Object.keys(set.hashes).filter((path) => path.startsWith(folder) && !earlyPaths.includes(path));
};

/** `static/js/story.sheet.efc9fb53.js` → `story.sheet` */
const chunkOf = (path: string) => path.replace(/^.*\//, '').replace(/([.-][\w-]{8,})?\.m?js$/, '');

const closedFiles = ({ subject, walk }: Trial, remote: RemoteRecord): string[] =>
  lateFiles(subject, remote)
    .filter((path) => !walk.loadedPaths.has(path))
    .map((path) => path.slice(buildFolder(remote.id).length + 2));

const closedScripts = (trial: Trial, remote: RemoteRecord): string[] => closedFiles(trial, remote).filter(isScript);

/** Returns slots of whose own scripts no page ran one. The scripts of a guest's slots are unknown. */
export const closedSlots = ({ walk }: Trial, { id, description }: RemoteRecord): Slot[] =>
  description.slots.filter(({ js }) => js.every((path) => !walk.loadedPaths.has(`/${buildFolder(id)}/${path}`)));

/** Returns closed slots, without those of a guest whose scripts have all run. */
export const unseenSlots = (trial: Trial, remote: RemoteRecord): Slot[] =>
  closedSlots(trial, remote).filter(({ js }) => js.length > 0 || closedScripts(trial, remote).length > 0);

const reasonOf = (file: GateFile | null | undefined, name: string): string | undefined =>
  file && Object.hasOwn(file.unopened, name) ? file.unopened[name] : undefined;

/** Returns late scripts that no page ran and for which the remote gives no reason. */
export const unexplainedScripts = (trial: Trial, remote: RemoteRecord): string[] =>
  closedScripts(trial, remote).filter((path) => !reasonOf(trial.files.get(remote.id), chunkOf(path)));

/** True if this set could have shown the slot: the page that it is named after exists and has a gate file. */
function couldOpen({ subject, files }: Trial, slot: Slot): boolean {
  const holders = subject.remotes.filter(({ description }) =>
    description.routes.some((route) => isLikelyOn(slot.name, route)),
  );
  return slot.js.length > 0 && holders.some((holder) => files.get(holder.id));
}

/**
 * Returns parts of a remote that no page opened. They are findings if the remote has a gate file that gives no reason for them, else
 * notes.
 */
export function unopened(trial: Trial, remote: RemoteRecord): { findings: string[]; notes: string[] } {
  const file = trial.files.get(remote.id);
  const slots = unseenSlots(trial, remote);
  // stylesheets load with scripts, and other build tools may emit unused ones
  const lateParts = file ? closedScripts(trial, remote) : closedFiles(trial, remote);
  const parts = [
    ...slots.map(({ name }) => ({ name, word: say('slotNamed', { slotName: name }) })),
    ...lateParts.map((path) => ({ name: chunkOf(path), word: path })),
  ];
  const explainedParts = parts.filter(({ name }) => reasonOf(file, name));
  const unexplainedParts = parts.filter((each) => !explainedParts.includes(each));
  const isExcused = slots.some((slot) => !reasonOf(file, slot.name) && !couldOpen(trial, slot));
  const words = unexplainedParts.map(({ word }) => word).join(', ');
  const notes = explainedParts.map(({ name, word }) => `${remote.id}: ${word} was not opened: ${reasonOf(file, name)}`);
  if (!words) return { findings: [], notes };
  if (!file || isExcused) return { findings: [], notes: [`${remote.id}: no page opened ${words}`, ...notes] };
  const problem = say('unopened', { parts: words, file: GATE_FILE });
  return { findings: [say('ofBuild', { build: remote.id, problem })], notes };
}
