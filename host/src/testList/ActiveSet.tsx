import { activeBuild, pageSet } from '../federation';
import styles from './TestListPage.module.css';

const facts: [label: string, value: string][] = [
  ['渠道', pageSet.channel],
  ['状态序号', String(pageSet.seq)],
  ['集合', pageSet.set],
  ['灰度', pageSet.candidate ? '是' : '否'],
  ['预览', pageSet.override ? `${pageSet.override.id}，至 ${pageSet.override.expires}` : '无'],
  ['宿主', `${pageSet.host.id}（契约 ${pageSet.host.contract}）`],
  ['已停用', pageSet.killed.join('、') || '无'],
];

/** What this page runs, and which remotes have left the set's build for their last good one. */
export function ActiveSet() {
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
        {Object.entries(pageSet.remotes).map(([name, build]) => {
          const running = activeBuild(name)?.id ?? build.id;
          return (
            <li key={name}>
              <strong>{build.label}</strong> <code>{running}</code>
              <p className={styles.note}>
                {running === build.id ? '' : `已退回；集合中为 ${build.id}。`}契约 {build.contract}，备用{' '}
                {build.lastGood?.id ?? '无'}
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
