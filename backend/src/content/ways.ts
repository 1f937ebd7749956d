import type { Finale, Plot, Scene } from './plot.ts';

/** Whether the known facts open a scene or an ending. */
export const isOpen = ({ needs, forbids }: Pick<Scene, 'needs' | 'forbids'>, facts: readonly string[]): boolean =>
  needs.every((fact) => facts.includes(fact)) && !forbids.some((fact) => facts.includes(fact));

/** Explores all ways through a story. Returns the reached ids, and the scenes with a state that leads to no ending. */
export function explore({ scenes, endings }: Plot): { reached: Set<string>; stuck: Set<string> } {
  const places = new Map<string, Scene | Finale>([...scenes, ...endings].map((one) => [one.id, one]));
  const relevantFacts = new Set([...places.values()].flatMap(({ needs, forbids }) => [...needs, ...forbids]));
  const originsOfState = new Map<string, Set<string>>();
  const stateKey = (id: string, facts: string[]) => [id, ...facts].join('|');
  const first = scenes[0]?.id ?? '';
  const queue: [string, string[]][] = [[first, []]];
  originsOfState.set(stateKey(first, []), new Set());
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [id, facts] = next;
    const scene = scenes.find((one) => one.id === id);
    const moves = scene ? [...scene.replies, ...(scene.onward ? [{ to: scene.onward.to, facts: [] }] : [])] : [];
    for (const move of moves) {
      const to = move.to ?? id;
      const place = places.get(to);
      const factsAfter = [...new Set([...facts, ...move.facts.filter((fact) => relevantFacts.has(fact))])].sort();
      if (!place || (move.to && !isOpen(place, facts))) continue;
      const origins = originsOfState.get(stateKey(to, factsAfter));
      if (origins) origins.add(stateKey(id, facts));
      else {
        originsOfState.set(stateKey(to, factsAfter), new Set([stateKey(id, facts)]));
        queue.push([to, factsAfter]);
      }
    }
  }
  const idOf = (state: string) => state.split('|')[0] ?? '';
  const statesToEnding = new Set(
    [...originsOfState.keys()].filter((state) => endings.some(({ id }) => id === idOf(state))),
  );
  for (const state of statesToEnding) for (const origin of originsOfState.get(state) ?? []) statesToEnding.add(origin);
  return {
    reached: new Set([...originsOfState.keys()].map(idOf)),
    stuck: new Set([...originsOfState.keys()].filter((state) => !statesToEnding.has(state)).map(idOf)),
  };
}
