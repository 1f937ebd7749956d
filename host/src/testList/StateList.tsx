import { Link, requestLogin, toast, useUser } from '@liaozhai/shared/runtime';
import { Button } from '@liaozhai/shared/ui';
import styles from './TestListPage.module.css';

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
];

/** States that take an effort to reach by hand. */
export function StateList() {
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
