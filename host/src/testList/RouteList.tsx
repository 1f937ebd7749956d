import { Link } from '@liaozhai/shared/runtime';
import { Tag } from '@liaozhai/shared/ui';
import type { ScreenRoute } from '../routes/routeTable';
import styles from './TestListPage.module.css';

interface RouteListProps {
  routes: readonly ScreenRoute[];
  sampleStory: string | undefined;
}

const flagsOf = (route: ScreenRoute) => [
  ...(route.requiresAuth ? ['需要登录'] : []),
  ...(route.keepAlive ? ['保活'] : []),
  ...(route.outsideShell ? ['在标签栏之外'] : []),
];

const ownerOf = ({ source }: ScreenRoute) => (source.kind === 'remote' ? source.remote : 'host');

const filled = (path: string, sampleStory: string | undefined) =>
  path.startsWith('/story/') && !sampleStory
    ? null
    : path.replace('/story/:id', `/story/${sampleStory}`).replace(/:\w+/g, '0');

export function RouteList({ routes, sampleStory }: RouteListProps) {
  return (
    <section className={styles.section} aria-labelledby="routes">
      <h2 id="routes">页面（{routes.length}）</h2>
      <div className={styles.scroll}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">路径</th>
              <th scope="col">名称</th>
              <th scope="col">标题</th>
              <th scope="col">归属</th>
              <th scope="col">标记</th>
            </tr>
          </thead>
          <tbody>
            {routes.map((route) => {
              const target = filled(route.path, sampleStory);
              return (
                <tr key={route.path}>
                  <td>{target ? <Link to={target}>{route.path}</Link> : route.path}</td>
                  <td>{route.name}</td>
                  <td>{route.title}</td>
                  <td>{ownerOf(route)}</td>
                  <td>
                    <div className={styles.flags}>
                      {flagsOf(route).map((flag) => (
                        <Tag key={flag}>{flag}</Tag>
                      ))}
                    </div>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
