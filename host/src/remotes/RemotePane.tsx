import { Link, paths } from '@liaozhai/shared/runtime';
import { Button, EmptyState, ErrorRow, Skeleton } from '@liaozhai/shared/ui';
import { type ReactNode, Suspense, useReducer, useState } from 'react';
import { PaneBoundary } from './PaneBoundary';
import { canRecover, forgetPart, loadPart, type PartProps, type PartSource, partComponent } from './parts';
import styles from './RemotePane.module.css';

interface RemotePaneProps {
  part: PartSource;
  /** A slot inside another page takes no more room than a row when it fails. */
  small?: boolean;
  /** The tab bar is not in sight: a failed pane must offer the way out itself. */
  outsideShell?: boolean;
  /** What stands here already: it stays until the part is there or has failed. */
  drawn?: ReactNode;
  props?: PartProps;
}

const texts = { lost: '暂时打不开', retry: '重试', leave: '回到发现' };
const noProps: PartProps = {};

function Part({ part, props }: { part: PartSource; props: PartProps }) {
  const [Loaded] = useState(() => partComponent(part));
  return <Loaded {...props} />;
}

/** Shows a remote's part: skeleton, then the part; should it fail, its last good build, else a card to try again. */
export function RemotePane({ part, small = false, outsideShell = false, drawn, props = noProps }: RemotePaneProps) {
  // a new key mounts the pane anew: a boundary that caught an error, and a failed load, stay as they are
  const [attempt, tryAgain] = useReducer((count: number) => count + 1, 0);
  const retry = () => {
    forgetPart(part);
    tryAgain();
  };
  const waiting = (attempt === 0 && drawn) || <PaneSkeleton small={small} />;
  // the stand-in is mounted once it is there: React would hold another Suspense fallback for 300 ms
  const standIn = () => void loadPart(part).then(tryAgain, tryAgain);
  return (
    <PaneBoundary
      key={`${part.key} ${attempt}`}
      recovers={(error) => canRecover(part, error)}
      onRetry={standIn}
      lost={
        small ? (
          <ErrorRow text={texts.lost} onRetry={retry} />
        ) : (
          <LostPage outsideShell={outsideShell} onRetry={retry} />
        )
      }
      waiting={waiting}
    >
      <Suspense fallback={waiting}>
        <Part part={part} props={props} />
      </Suspense>
    </PaneBoundary>
  );
}

function PaneSkeleton({ small }: { small: boolean }) {
  return (
    <div className={small ? undefined : styles.page}>
      <Skeleton shape={small ? 'text' : 'row'} count={small ? 1 : 6} />
    </div>
  );
}

function LostPage({ outsideShell, onRetry }: { outsideShell: boolean; onRetry: () => void }) {
  return (
    <div className={styles.lost} role="alert">
      <EmptyState text={texts.lost} drawing="mountain" action={<Button onClick={onRetry}>{texts.retry}</Button>} />
      {outsideShell && (
        <Button variant="quiet" asLink={<Link to={paths.explore()} replace />}>
          {texts.leave}
        </Button>
      )}
    </div>
  );
}
