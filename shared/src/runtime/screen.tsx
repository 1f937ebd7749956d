import { type ComponentType, createContext, type ReactNode, type RefObject, use, useCallback, useEffect } from 'react';
import { useNavigate } from 'react-router-dom';
import type { PropsOfSlot, SlotName } from '../contract';
import { hostConfig } from './hostConfig';

export interface ScreenState {
  /** the screen's own scroll container */
  scroller: RefObject<HTMLElement | null>;
  /** false while it is kept alive behind another screen */
  isActive: boolean;
}

export const ScreenContext = createContext<ScreenState>({ scroller: { current: null }, isActive: true });

/** The kept-alive screen this component lives in. */
export const useScreen = () => use(ScreenContext);

/** Names the document while the screen shows; undefined leaves the route's title. */
export function useDocumentTitle(title: string | undefined) {
  const { isActive } = useScreen();
  useEffect(() => {
    if (title !== undefined && isActive) document.title = `${title} · ${hostConfig().brand.name}`;
  }, [title, isActive]);
}

/** Back to where the visitor came from in this app, or to `fallback` when they came by a link from elsewhere. */
export function useGoBack(fallback: string): () => void {
  const navigate = useNavigate();
  return useCallback(() => {
    const { idx = 0, overlays = [] } = (history.state ?? {}) as { idx?: number; overlays?: unknown[] };
    // an overlay has an entry of its own, which closes it
    if (idx > 0 || overlays.length > 0) void navigate(-1);
    else void navigate(fallback, { replace: true });
  }, [navigate, fallback]);
}

export interface SlotProps {
  name: string;
  /** Shows in its place until it is there: the shape that its own skeleton has. */
  waiting?: ReactNode;
  [prop: string]: unknown;
}

/** How a slot is filled: the host puts its remote loading here. */
export const SlotContext = createContext<ComponentType<SlotProps> | null>(null);

/** The place on a page where other teams' parts show, e.g. `<RemoteSlot name="story.chat" storyId={id} />`. */
export function RemoteSlot<Name extends SlotName>(
  props: Pick<SlotProps, 'waiting'> & { name: Name } & PropsOfSlot<Name>,
) {
  const Filled = use(SlotContext);
  return Filled && <Filled {...props} />;
}
