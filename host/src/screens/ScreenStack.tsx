import { useState } from 'react';
import { DocumentTitle } from './DocumentTitle';
import { RouteAnnouncer } from './RouteAnnouncer';
import { Screen } from './Screen';
import type { OpenScreen } from './screenStack';
import type { ScrollMemory } from './scrollMemory';

interface ScreenStackProps {
  screens: readonly OpenScreen[];
  active: OpenScreen;
  /** Part of every screen's key: a new one mounts them all anew. */
  epoch: number;
  memory: ScrollMemory;
}

export function ScreenStack({ screens, active, epoch, memory }: ScreenStackProps) {
  const [firstKey] = useState(active.key);
  return (
    <>
      {/* ahead of the screens, whose pages may know a better title */}
      <DocumentTitle key={active.key} title={active.route.title} />
      {screens.map((screen) => (
        <Screen
          key={`${epoch} ${screen.key}`}
          screen={screen}
          active={screen.key === active.key}
          isFirst={screen.key === firstKey}
          memory={memory}
        />
      ))}
      <RouteAnnouncer title={active.route.title} />
    </>
  );
}
