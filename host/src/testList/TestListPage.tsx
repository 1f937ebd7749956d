import { Skeleton } from '@liaozhai/shared/ui';
import { lazy, Suspense } from 'react';
import { pageSet } from '../federation';
import { routeTable } from '../routes/routeTable';
import { ActiveSet } from './ActiveSet';
import { RouteList } from './RouteList';
import { StateList } from './StateList';
import styles from './TestListPage.module.css';
import { useSampleStory } from './useSampleStory';

const Gallery =
  process.env.NODE_ENV === 'development'
    ? lazy(() => import(/* webpackChunkName: "gallery" */ '@liaozhai/shared/ui/gallery'))
    : null;

/** For developers: every screen of the active set, what runs, and the states that are hard to come by. */
export default function TestListPage() {
  const sampleStory = useSampleStory();
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>页面一览</h1>
      <RouteList routes={routeTable(pageSet)} sampleStory={sampleStory} />
      <StateList />
      <ActiveSet />
      {Gallery && (
        <details className={styles.section}>
          <summary>组件样张</summary>
          <Suspense fallback={<Skeleton />}>
            <Gallery />
          </Suspense>
        </details>
      )}
    </div>
  );
}
