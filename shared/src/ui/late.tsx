import {
  type ComponentType,
  type ReactNode,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useState,
} from 'react';
import { listenTo } from '../format/browser';
import { ErrorRow } from './QueryView';

/**
 * A component in a separate file. `React.lazy` caches a failed import for the life of the page; this one loads again on 重试 and
 * when the network is back. It never throws, so that an offline user does not count against a build.
 */
export function late<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  waiting: ReactNode = null,
): ComponentType<Props> {
  const file: { component?: ComponentType<Props> } = {};
  return function Late(props: Props) {
    const [Loaded, setLoaded] = useState(() => file.component);
    const [hasFailed, setFailed] = useState(false);
    const loadComponent = useCallback(() => {
      setFailed(false);
      load().then(
        ({ default: component }) => {
          file.component = component;
          setLoaded(() => component);
        },
        () => setFailed(true),
      );
    }, []);
    useEffect(() => {
      if (!file.component) loadComponent();
    }, [loadComponent]);
    // before the error is painted
    useLayoutEffect(
      () => (hasFailed ? listenTo(window, ['online'], loadComponent) : undefined),
      [hasFailed, loadComponent],
    );
    if (Loaded) return <Loaded {...props} />;
    return hasFailed ? <ErrorRow text="暂时打不开" onRetry={loadComponent} /> : waiting;
  };
}

/** Loads a module when it is first needed. A failure calls `onFailure`; the next need loads again. */
export function useModule<Module extends object>(
  load: () => Promise<Module>,
  isNeeded: boolean,
  onFailure: (cause: unknown) => void,
): Module | null {
  const [module, setModule] = useState<Module | null>(null);
  const handleFailure = useEffectEvent(onFailure);
  useEffect(() => {
    if (isNeeded && !module) load().then(setModule, (cause: unknown) => handleFailure(cause));
  }, [load, isNeeded, module]);
  return module;
}
