import {
  Avatar,
  Badge,
  Card,
  Cover,
  Divider,
  IconButton,
  ListRow,
  LogOutIcon,
  MoreIcon,
  StoryText,
  SupportIcon,
  TopBar,
  WalletIcon,
} from '..';
import styles from './Pieces.module.css';
import { Specimen } from './Specimen';

const picture = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 4"><rect width="3" height="4" fill="#33413c"/><circle cx="2" cy="1.2" r=".5" fill="#e7dcc4"/><path d="M0 4V3l.9-.8.7.6L2.4 2l.6.7V4z" fill="#1c2622"/></svg>',
)}`;

const nothing = () => undefined;

export function Pieces() {
  return (
    <>
      <Specimen title="TopBar">
        <TopBar title="个人资料" onBack={nothing} actions={<IconButton label="更多" icon={<MoreIcon size={22} />} />} />
        <TopBar title="一个标题特别特别长的故事也只占一行，其余省略" variant="veil" onBack={nothing} />
      </Specimen>
      <Specimen title="Card · ListRow">
        <Card flush>
          <ListRow icon={<WalletIcon size={22} />} title="消费明细" value="1,234 点" onClick={nothing} />
          <ListRow
            icon={<SupportIcon size={22} />}
            title="客服中心"
            detail="常见问题与联系方式"
            asLink={<a href="#gallery">客服</a>}
          />
          <ListRow title="只读的一行" value={<Badge count={2} label="2 条未读" />} />
          <ListRow icon={<LogOutIcon size={22} />} title="退出登录" disabled onClick={nothing} />
        </Card>
      </Specimen>
      <Specimen title="Avatar" inline>
        <Avatar name="聂小倩" size="small" />
        <Avatar name="燕赤霞" />
        <Avatar name="宁采臣" size="large" src={picture} />
        <Avatar name="𠮷先生" size="large" />
      </Specimen>
      <Specimen title="Cover">
        <div className={styles.covers}>
          <Cover title="画皮" src={picture} color="#33413c" />
          <Cover title="聂小倩与兰若寺的夜" color="#6b4a3a" />
          <Cover title="促织" />
        </div>
      </Specimen>
      <Specimen title="StoryText · Divider">
        <Divider text="11月3日" />
        <StoryText>
          <p>
            月色正好，兰若寺的<strong>廊下</strong>却没有一点风。你听见有人轻轻叩门，三下，又三下。
          </p>
          <p>
            “公子还没有睡么？”<em>她把灯笼举高了些，照见你案上的书。</em>
          </p>
        </StoryText>
        <Divider />
      </Specimen>
    </>
  );
}
