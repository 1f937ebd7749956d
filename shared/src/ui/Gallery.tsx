import clsx from 'clsx';
import { type ReactNode, useState } from 'react';
import {
  Avatar,
  Badge,
  Button,
  Card,
  ChatFilledIcon,
  ChatIcon,
  Chip,
  CloseIcon,
  ContinueIcon,
  CopyIcon,
  Cover,
  DeleteIcon,
  Dialog,
  Divider,
  type Drawing,
  EmptyState,
  EndOfList,
  ErrorRow,
  FireFilledIcon,
  FireIcon,
  FONT_SIZES,
  GENDERS,
  IconButton,
  InfiniteList,
  ListRow,
  LogOutIcon,
  Menu,
  MoreIcon,
  PasswordField,
  PullToRefresh,
  QueryView,
  RadioGroup,
  ScreenSkeleton,
  Seal,
  SendIcon,
  Sheet,
  type ShownToast,
  Skeleton,
  SparkIcon,
  Spinner,
  StoryText,
  SupportIcon,
  SwipeRow,
  Switch,
  Tag,
  TextArea,
  TextField,
  Toaster,
  TopBar,
  UserFilledIcon,
  UserIcon,
  WalletIcon,
} from '.';
import styles from './Gallery.module.css';

const themes = [
  { name: 'light', title: '浅色' },
  { name: 'dark', title: '深色' },
] as const;

/** Shows each component in all states, in both themes; at /test/list in development. */
export default function Gallery() {
  return (
    <div className={styles.themes}>
      {themes.map(({ name, title }) => (
        <div key={name} className={styles.theme} data-theme={name}>
          <h2 className={styles.heading}>{title}</h2>
          <ButtonStates />
          <FieldStates theme={name} />
          <Pieces />
          <DataStates />
          <GestureStates />
          <Overlays />
        </div>
      ))}
    </div>
  );
}

function Specimen({ title, inline, children }: { title: string; inline?: boolean; children: ReactNode }) {
  return (
    <section className={styles.specimen}>
      <h3 className={styles.title}>{title}</h3>
      <div className={clsx(styles.states, inline && styles.inline)}>{children}</div>
    </section>
  );
}

function ButtonStates() {
  const [isSelected, setSelected] = useState(true);
  return (
    <>
      <Specimen title="Button" inline>
        <Button>开始聊天</Button>
        <Button variant="quiet">先看看</Button>
        <Button variant="danger">删除</Button>
        <Button loading>正在保存</Button>
        <Button disabled>不可用</Button>
        <Button small>小</Button>
        <Button small variant="quiet" asLink={<a href="#gallery">链接</a>}>
          链接
        </Button>
        <Button block icon={<SparkIcon size={20} />}>
          整行
        </Button>
      </Specimen>
      <Specimen title="IconButton" inline>
        <IconButton label="关闭" icon={<CloseIcon size={22} />} />
        <IconButton label="发送" variant="solid" icon={<SendIcon size={20} />} />
        <IconButton label="发送（不可用）" variant="solid" disabled icon={<SendIcon size={20} />} />
        <IconButton label="更多" variant="veil" icon={<SparkIcon size={20} />} />
      </Specimen>
      <Specimen title="Chip · Tag · Badge" inline>
        <Chip icon={<SparkIcon />}>灵感</Chip>
        <Chip icon={<ContinueIcon />}>继续</Chip>
        <Chip selected={isSelected} onClick={() => setSelected(!isSelected)}>
          志怪
        </Chip>
        <Chip disabled>不可用</Chip>
        <Tag>狐仙</Tag>
        <Tag tone="accent">新</Tag>
        <Tag tone="jade">已签到</Tag>
        <Tag tone="gold">赠送</Tag>
        <Badge count={3} label="3 条未读" />
        <Badge count={120} label="120 条未读" />
      </Specimen>
      <Specimen title="Seal · Spinner · 标签栏图标" inline>
        <Seal sign="聊" size="small" />
        <Seal sign="印章" label="印章" />
        <Seal sign="聊" size="large" />
        <Spinner label="正在加载" />
        <FireIcon />
        <FireFilledIcon />
        <ChatIcon />
        <ChatFilledIcon />
        <UserIcon />
        <UserFilledIcon />
      </Specimen>
    </>
  );
}

function FieldStates({ theme }: { theme: string }) {
  const [gender, setGender] = useState<'male' | 'female'>('female');
  const [size, setSize] = useState<'1' | '2' | '3' | '4'>('2');
  const [persona, setPersona] = useState('宁采臣，浙江人，性慷爽，廉隅自重。每对人言：“生平无二色。”');
  const [night, setNight] = useState(true);
  return (
    <Specimen title="TextField · PasswordField · TextArea · RadioGroup · Switch">
      <TextField label="昵称" defaultValue="聂小倩" hint="可以随时修改" />
      <TextField label="用户名" defaultValue="a1" error={['用户名已被使用', '至少 3 个字符']} />
      <TextField label="邀请码" disabled defaultValue="LZ8K2M" />
      <PasswordField label="密码" defaultValue="384756" autoComplete="off" />
      <TextArea label="人设" value={persona} onChange={(event) => setPersona(event.target.value)} maxCodePoints={40} />
      <TextArea label="人设（超出）" value={persona} readOnly maxCodePoints={20} error="超出字数了" />
      <RadioGroup legend="性别" name={`${theme}-gender`} options={GENDERS} value={gender} onChange={setGender} />
      <RadioGroup legend="字号" name={`${theme}-size`} options={FONT_SIZES} value={size} onChange={setSize} />
      <Switch label="夜间使用深色" checked={night} onChange={setNight} />
      <Switch label="不可用" checked={false} disabled onChange={setNight} />
    </Specimen>
  );
}

const refetch = () => undefined;
const drawings: Drawing[] = ['moon', 'mountain', 'book'];

function DataStates() {
  return (
    <>
      <Specimen title="QueryView：加载 · 出错 · 空 · 有">
        <QueryView query={{ isFetching: true, refetch }} skeleton={<Skeleton shape="row" count={2} />}>
          {() => null}
        </QueryView>
        <Card>
          <QueryView query={{ error: { kind: 'offline' }, refetch }}>{() => null}</QueryView>
        </Card>
        <QueryView
          query={{ data: [], refetch }}
          isEmpty={(list) => list.length === 0}
          empty={<EmptyState text="还没有聊过，去发现挑一个故事吧" action={<Button>去发现</Button>} />}
        >
          {() => null}
        </QueryView>
        <QueryView query={{ data: ['画皮', '促织'], refetch }}>{(list) => <p>{list.join('、')}</p>}</QueryView>
      </Specimen>
      <Specimen title="EmptyState">
        {drawings.map((drawing) => (
          <EmptyState key={drawing} drawing={drawing} text="这个故事不在这里了" />
        ))}
      </Specimen>
      <Specimen title="Skeleton">
        <Skeleton />
        <Skeleton shape="coverRow" count={2} />
        <ScreenSkeleton shape="shelf" />
        <Skeleton shape="card" count={2} />
      </Specimen>
      <Specimen title="InfiniteList：加载 · 出错 · 到底 · ErrorRow">
        <InfiniteList hasMore loading onMore={refetch}>
          第一页
        </InfiniteList>
        <InfiniteList hasMore loading={false} error={{ kind: 'timeout' }} onMore={refetch}>
          第一页
        </InfiniteList>
        <EndOfList />
        <ErrorRow text="暂时打不开" onRetry={refetch} retrying />
      </Specimen>
    </>
  );
}

const picture = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 4"><rect width="3" height="4" fill="#33413c"/><circle cx="2" cy="1.2" r=".5" fill="#e7dcc4"/><path d="M0 4V3l.9-.8.7.6L2.4 2l.6.7V4z" fill="#1c2622"/></svg>',
)}`;

const nothing = () => undefined;

function Pieces() {
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

type Overlay = 'sheet' | 'question' | 'notice' | 'uncloseable' | null;

const samples: ShownToast[] = [
  { id: 'done', text: '登录成功', kind: 'success' },
  { id: 'failed', text: '连不上服务，请检查网络或稍后再试', kind: 'error' },
  { id: 'undo', text: '已删除', action: { label: '撤销', run: () => undefined } },
];

function Overlays() {
  const [open, setOpen] = useState<Overlay>(null);
  const [toasts, setToasts] = useState<ShownToast[]>([]);
  const close = () => setOpen(null);
  return (
    <Specimen title="Sheet · Dialog · Menu · Toaster" inline>
      <Button variant="quiet" onClick={() => setOpen('sheet')}>
        打开面板
      </Button>
      <Button variant="quiet" onClick={() => setOpen('question')}>
        询问
      </Button>
      <Button variant="quiet" onClick={() => setOpen('notice')}>
        告知
      </Button>
      <Button variant="quiet" onClick={() => setOpen('uncloseable')}>
        不可关闭
      </Button>
      <Button variant="quiet" onClick={() => setToasts(toasts.length > 0 ? [] : samples)}>
        提示
      </Button>
      <Menu
        label="更多操作"
        items={[
          { label: '复制', icon: <CopyIcon />, onSelect: close },
          { label: '删除', icon: <DeleteIcon />, danger: true, onSelect: () => setOpen('question') },
        ]}
      />
      <Sheet open={open === 'sheet'} onClose={close} title="登录" footer={<Button block>登录</Button>}>
        <div className={styles.stack}>
          <TextField label="用户名" name="login" />
          <Button variant="quiet" onClick={() => setToasts(samples.slice(0, 1))}>
            提示浮在面板上
          </Button>
        </div>
      </Sheet>
      <Dialog
        open={open === 'question'}
        title="删除这段对话？"
        cancelLabel="取消"
        confirmLabel="删除"
        danger
        onConfirm={close}
        onClose={close}
      >
        删除后 6 秒内可以撤销。
      </Dialog>
      <Dialog open={open === 'notice'} title="有新版本" onConfirm={close}>
        下次打开时自动换上。
      </Dialog>
      <Dialog
        open={open === 'uncloseable'}
        title="自动复制失败"
        confirmLabel="我已经复制"
        onConfirm={close}
        uncloseable
      >
        请手工复制账号密码
      </Dialog>
      <Toaster toasts={toasts} />
    </Specimen>
  );
}

function GestureStates() {
  const [refreshes, setRefreshes] = useState(0);
  const [rows, setRows] = useState(['画皮', '促织', '婴宁']);
  const refresh = () =>
    new Promise<void>((done) => {
      setTimeout(() => {
        setRefreshes((count) => count + 1);
        done();
      }, 1200);
    });
  return (
    <Specimen title="PullToRefresh · SwipeRow">
      <PullToRefresh onRefresh={refresh}>
        <ListRow title="往下拉" value={`刷新过 ${refreshes} 次`} />
        {rows.map((row) => (
          <SwipeRow key={row} actionLabel="删除" onAction={() => setRows(rows.filter((other) => other !== row))}>
            <ListRow title={row} detail="向左滑出删除" />
          </SwipeRow>
        ))}
      </PullToRefresh>
    </Specimen>
  );
}
