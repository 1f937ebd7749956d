import { cursorPageSchema, endpoints, storySchema } from '@liaozhai/shared/contract';
import { Link, request, requestLogin, toast, useUser } from '@liaozhai/shared/runtime';
import { Button, late, Skeleton, Tag, whenResolved } from '@liaozhai/shared/ui';
import { useEffect, useState } from 'react';
import { usePage } from '../page';
import type { ScreenRoute } from '../routes';
import styles from './TestListPage.module.css';

const Gallery =
  process.env.NODE_ENV === 'development'
    ? late(() => import(/* webpackChunkName: "gallery" */ '@liaozhai/shared/ui/gallery'), <Skeleton />)
    : null;

/** Developer page: every screen of the active set, the running builds, and states that are hard to reach. */
export default function TestListPage() {
  const { routes } = usePage();
  const sampleStory = useSampleStory();
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>页面一览</h1>
      <RouteList routes={routes} sampleStory={sampleStory} />
      <StateList />
      <ActiveSet />
      {Gallery && (
        <details className={styles.section}>
          <summary>组件样张</summary>
          <Gallery />
        </details>
      )}
    </div>
  );
}

const flagsOf = (route: ScreenRoute) => [
  ...(route.requiresAuth ? ['需要登录'] : []),
  ...(route.keepAlive ? ['保活'] : []),
  ...(route.outsideShell ? ['在标签栏之外'] : []),
];

const fillPath = (path: string, sampleStory: string | undefined) =>
  path.startsWith('/story/') && !sampleStory
    ? null
    : path.replace('/story/:id', `/story/${sampleStory}`).replace(/:\w+/g, '0');

function RouteList({ routes, sampleStory }: { routes: readonly ScreenRoute[]; sampleStory: string | undefined }) {
  return (
    <section className={styles.section} aria-labelledby="routes">
      <h2 id="routes">{`页面（${routes.length}）`}</h2>
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
              const target = fillPath(route.path, sampleStory);
              return (
                <tr key={route.path}>
                  <td>{target ? <Link to={target}>{route.path}</Link> : route.path}</td>
                  <td>{route.name}</td>
                  <td>{route.title}</td>
                  <td>{route.source.kind === 'remote' ? route.source.remote : 'host'}</td>
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

const states = [
  { label: '注册弹窗', open: () => void requestLogin('register') },
  { label: '登录弹窗', open: () => void requestLogin('login') },
  { label: '提示', open: () => toast('这是一条提示') },
  { label: '成功提示', open: () => toast('账号密码已复制到剪贴板', { kind: 'success' }) },
  { label: '失败提示', open: () => toast('登录失败', { kind: 'error' }) },
  {
    label: '带操作的提示',
    open: () => toast('有新版本', { action: { label: '更新', run: () => toast('只是演示') } }),
  },
];

const links = [
  { label: '没有这个页面', to: '/no/such/page' },
  { label: '没有这个故事', to: '/story/no-such-story' },
  { label: '失效的邮箱确认链接', to: '/email/verify/0/0' },
  { label: '失效的新密码链接', to: '/reset-password?token=0&email=nobody%40example.org' },
];

function StateList() {
  const user = useUser();
  return (
    <section className={styles.section} aria-labelledby="states">
      <h2 id="states">状态</h2>
      <p className={styles.note}>{user ? `已登录：${user.name}（${user.username}）` : '未登录'}</p>
      <div className={styles.states}>
        {states.map(({ label, open }) => (
          <Button key={label} variant="quiet" small onClick={open}>
            {label}
          </Button>
        ))}
        {links.map(({ label, to }) => (
          <Button key={to} variant="quiet" small asLink={<Link to={to} />}>
            {label}
          </Button>
        ))}
      </div>
    </section>
  );
}

/** Shows which builds this page runs, and which remotes fell back to their last good one. */
function ActiveSet() {
  const { set, remotes } = usePage();
  const facts: [label: string, value: string][] = [
    ['渠道', set.channel],
    ['状态序号', String(set.seq)],
    ['集合', set.set],
    ['灰度', set.candidate ? '是' : '否'],
    ['预览', set.override ? `${set.override.id}，至 ${set.override.expires}` : '无'],
    ['宿主', `${set.host.id}（契约 ${set.host.contract}）`],
    ['已停用', set.killed.join('、') || '无'],
  ];
  return (
    <section className={styles.section} aria-labelledby="set">
      <h2 id="set">当前集合</h2>
      <dl className={styles.facts}>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h2>构建</h2>
      <ul className={styles.builds}>
        {Object.entries(set.remotes).map(([name, build]) => {
          const runningId = remotes.activeBuild(name)?.id ?? build.id;
          return (
            <li key={name}>
              <strong>{build.label}</strong> <code>{runningId}</code>
              <p className={styles.note}>
                {`${runningId === build.id ? '' : `已退回；集合中为 ${build.id}。`}契约 ${build.contract}，备用 ${build.lastGood?.id ?? '无'}`}
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Id of any story, to fill `:id` with. Undefined until loaded, or without stories. */
function useSampleStory(): string | undefined {
  const [id, setId] = useState<string>();
  useEffect(() => {
    // the list works without it
    const stories = request({ url: endpoints.stories, schema: cursorPageSchema(storySchema) }).catch(() => null);
    return whenResolved(stories, (page) => setId(page?.items[0]?.id));
  }, []);
  return id;
}
