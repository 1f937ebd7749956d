import { type ComponentType, createContext, use } from 'react';

type SlotProps = { name: string } & Record<string, string>;

/** How a slot is filled: the host puts its remote loading here. */
export const SlotContext = createContext<ComponentType<SlotProps> | null>(null);

/** The place on a page where another team's part shows, e.g. `<RemoteSlot name="story.chat" storyId={id} />`. Props are strings. */
export function RemoteSlot(props: SlotProps) {
  const Filled = use(SlotContext);
  return Filled && <Filled {...props} />;
}
