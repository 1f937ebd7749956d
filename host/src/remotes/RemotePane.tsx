import { isOpenSlot } from '@liaozhai/shared/contract';
import { Link, paths, SlotContext, type SlotProps, useGoBack, useScreen } from '@liaozhai/shared/runtime';
import {
  Button,
  EmptyState,
  ErrorRow,
  listenTo,
  ProblemCode,
  type ReportRow,
  RowFaults,
  ScreenSkeleton,
  type SkeletonShape,
  stopAll,
  TopBar,
} from '@liaozhai/shared/ui';
import {
  Component,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useEffectEvent,
  useReducer,
  useRef,
  useState,
} from 'react';
import { usePage } from '../page';
import { replayEarlyTap } from '../screens/prerendered';
import styles from './RemotePane.module.css';
import type { RemoteComponent, RemoteProps } from './remoteComponents';

interface RemotePaneProps {
  remoteComponent: RemoteComponent;
  /** A slot inside another page: shows `waiting` while loading, and a single row if it fails. */
  small?: boolean;
  /** Part of an open slot: shows nothing if it fails. */
  isOneOfMany?: boolean;
  /** Skeleton that resembles the screen's content. */
  shape?: SkeletonShape;
  /** Placeholder of the surrounding page until the slot is loaded. */
  waiting?: ReactNode;
  /** The screen's title. A failed pane still shows it, with a back button unless it is a tab. */
  title?: string;
  isTab?: boolean;
  /** The tab bar is hidden, so a failed pane offers a way out. */
  outsideShell?: boolean;
  /** Server-rendered content, shown until the component has loaded or failed. */
  prerendered?: ReactNode;
  props?: RemoteProps;
}

const texts = { lost: '暂时打不开', retry: '重试', leave: '回到发现' };
const noProps: RemoteProps = {};

/** Shows a remote component: a skeleton, then the component; if it fails, its fallback build, else a card with a retry. */
export function RemotePane(options: RemotePaneProps) {
  const { remoteComponent, small = false, shape = 'row', prerendered, props = noProps } = options;
  // a new key remounts the pane: an error boundary and a failed load do not reset
  const [attempt, remount] = useReducer((count: number) => count + 1, 0);
  const retries = useRef(0);
  const retry = () => {
    if (remoteComponent.isStuck()) return location.reload();
    retries.current = 0;
    remoteComponent.retry();
    remount();
  };
  const skeleton = small ? options.waiting : <PaneSkeleton shape={shape} />;
  const waiting = (attempt === 0 && prerendered) || skeleton;
  // mounted only once loaded, since React would show another Suspense fallback for 300 ms
  const loadFallback = () => void remoteComponent.load().then(remount, remount);
  const onRowLost = useCallback<ReportRow>(
    (cause, noneRendered) => {
      if (remoteComponent.onRowError(cause, noneRendered)) void remoteComponent.load().then(remount, remount);
    },
    [remoteComponent],
  );
  return (
    <RemoteErrorBoundary
      key={`${remoteComponent.key} ${attempt}`}
      canRecover={remoteComponent.canRecover}
      onRecover={loadFallback}
      lost={
        <>
          <AutomaticRetries remoteComponent={remoteComponent} count={retries} onOpen={remount} />
          {!options.isOneOfMany && (small ? <LostSlot onRetry={retry} /> : <LostScreen {...options} onRetry={retry} />)}
        </>
      }
      waiting={waiting}
    >
      <Suspense fallback={waiting}>
        <RowFaults value={onRowLost}>
          <LoadedComponent remoteComponent={remoteComponent} props={props} />
        </RowFaults>
      </Suspense>
    </RemoteErrorBoundary>
  );
}

function LoadedComponent({ remoteComponent, props }: { remoteComponent: RemoteComponent; props: RemoteProps }) {
  const [Content] = useState(remoteComponent.component);
  useEffect(replayEarlyTap, []);
  useEffect(() => remoteComponent.onRender(), [remoteComponent]);
  return <Content {...props} />;
}

const PaneSkeleton = ({ shape }: { shape: SkeletonShape }) => (
  <div className={styles.page} data-shape={shape}>
    <ScreenSkeleton shape={shape} />
  </div>
);

/** Delays between automatic retries; after the last one, a permanent failure is not retried. */
const retryDelaysMs = [3_000, 10_000, 30_000, 90_000];

interface AutomaticRetriesProps {
  remoteComponent: RemoteComponent;
  /** how many of the delays are used up; outlives this mount */
  count: RefObject<number>;
  /** Called when the component is loaded, to remount the pane. */
  onOpen: () => void;
}

/**
 * Retries a failed component while its card is shown: after growing delays, and immediately when a timed-out file arrives, the
 * network is back, or the reader returns to the screen.
 */
function AutomaticRetries({ remoteComponent, count, onOpen }: AutomaticRetriesProps) {
  const { onLateAsset } = usePage();
  const { isActive } = useScreen();
  const wasHidden = useRef(false);
  const open = useEffectEvent(onOpen);
  useEffect(() => {
    if (!isActive) return;
    let isMounted = true;
    let isLoading = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () => {
      if (isLoading || remoteComponent.isStuck()) return;
      isLoading = true;
      clearTimeout(timer);
      remoteComponent.retry();
      remoteComponent.load().then(
        () => isMounted && open(),
        () => {
          isLoading = false;
          scheduleRetry();
        },
      );
    };
    const scheduleRetry = () => {
      const pauseMs = retryDelaysMs[count.current];
      if (!isMounted || pauseMs === undefined) return;
      timer = setTimeout(() => {
        count.current += 1;
        load();
      }, pauseMs);
    };
    const stop = stopAll(
      onLateAsset(load),
      listenTo(window, ['online'], load),
      listenTo(document, ['visibilitychange'], () => document.visibilityState === 'visible' && load()),
    );
    if (wasHidden.current) load();
    else scheduleRetry();
    return () => {
      isMounted = false;
      wasHidden.current = true;
      clearTimeout(timer);
      stop();
    };
  }, [remoteComponent, count, onLateAsset, isActive]);
  return null;
}

function LostSlot({ onRetry }: { onRetry: () => void }) {
  return <ErrorRow text={texts.lost} problem={usePage().remotes.problem()} onRetry={onRetry} />;
}

type LostScreenProps = Pick<RemotePaneProps, 'title' | 'isTab' | 'outsideShell'> & { onRetry: () => void };

function LostScreen({ title, isTab = false, outsideShell = false, onRetry }: LostScreenProps) {
  const problem = usePage().remotes.problem();
  const goBack = useGoBack(paths.explore());
  return (
    <>
      {title !== undefined && <TopBar title={title} {...(!isTab && { onBack: goBack })} />}
      <div className={styles.lost} role="alert">
        <EmptyState
          text={texts.lost}
          drawing="mountain"
          action={
            <>
              <Button onClick={onRetry}>{texts.retry}</Button>
              <ProblemCode id={problem} />
            </>
          }
        />
        {outsideShell && (
          <Button variant="quiet" asLink={<Link to={paths.explore()} replace />}>
            {texts.leave}
          </Button>
        )}
      </div>
    </>
  );
}

interface BoundaryProps {
  children: ReactNode;
  /** Called once per error. Returns whether to retry the pane automatically. */
  canRecover: (error: unknown) => boolean;
  onRecover: () => void;
  /** Shown if the pane is not retried. */
  lost: ReactNode;
  /** Shown until that is decided. */
  waiting: ReactNode;
}

interface BoundaryState {
  status: 'whole' | 'undecided' | 'lost';
}

/** Contains the errors of a pane. A class, since React offers error boundaries only as classes. */
class RemoteErrorBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { status: 'whole' };

  static getDerivedStateFromError(): BoundaryState {
    return { status: 'undecided' };
  }

  override componentDidCatch(error: unknown) {
    if (this.props.canRecover(error)) this.props.onRecover();
    else this.setState({ status: 'lost' });
  }

  override render() {
    const { children, lost, waiting } = this.props;
    if (this.state.status === 'whole') return children;
    return this.state.status === 'lost' ? lost : waiting;
  }
}

function FilledSlot({ name, waiting, ...props }: SlotProps) {
  const { components } = usePage();
  const parts = components.ofSlot(name);
  const isOpen = isOpenSlot(name);
  if (process.env.NODE_ENV === 'development' && !isOpen && parts.length === 0)
    console.warn(`no remote of this set fills the slot "${name}"`);
  return parts.map((part) => (
    <RemotePane key={part.key} remoteComponent={part} props={props} waiting={waiting} isOneOfMany={isOpen} small />
  ));
}

/** Fills the slots of every page below with the components that the set's remotes declare for them. */
export function RemoteSlots({ children }: { children: ReactNode }) {
  return <SlotContext value={FilledSlot}>{children}</SlotContext>;
}
