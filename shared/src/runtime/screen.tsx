import { type ComponentType, createContext, type ReactNode, type RefObject, use, useCallback, useEffect } from 'react';
import { useNavigate } from 'react-router-dom';
import type { PropsOfSlot, SlotName } from '../contract';
import { hostConfig } from './hostConfig';

export interface ScreenState {
  /** the screen's own scroll container */
  scroller: RefObject<HTMLElement | null>;
  /** false while the screen is kept alive behind another */
  isActive: boolean;
}

export const ScreenContext = createContext<ScreenState>({ scroller: { current: null }, isActive: true });

/** The keep-alive screen around this component. */
export const useScreen = () => use(ScreenContext);

/** Sets the document's title while the screen is active; undefined keeps the route's title. */
export function useDocumentTitle(title: string | undefined) {
  const { isActive } = useScreen();
  useEffect(() => {
    if (title !== undefined && isActive) document.title = `${title} · ${hostConfig().brand.name}`;
  }, [title, isActive]);
}

/** Navigates back within the app, or to `fallback` if the visitor entered by an external link. */
export function useGoBack(fallback: string): () => void {
  const navigate = useNavigate();
  return useCallback(() => {
    const { idx = 0, overlays = [] } = (history.state ?? {}) as { idx?: number; overlays?: unknown[] };
    // an overlay has its own history entry, which `navigate(-1)` closes
    if (idx > 0 || overlays.length > 0) void navigate(-1);
    else void navigate(fallback, { replace: true });
  }, [navigate, fallback]);
}

export interface SlotProps {
  name: string;
  /** Placeholder while the component loads: has the shape of its skeleton. */
  waiting?: ReactNode;
  [prop: string]: unknown;
}

/** Component that fills a slot; the host provides its remote loader here. */
export const SlotContext = createContext<ComponentType<SlotProps> | null>(null);

/** Place where components of other teams render, e.g. `<RemoteSlot name="story.chat" storyId={id} />`. */
export function RemoteSlot<Name extends SlotName>(
  props: Pick<SlotProps, 'waiting'> & { name: Name } & PropsOfSlot<Name>,
) {
  const Filled = use(SlotContext);
  return Filled && <Filled {...props} />;
}
