import { useState } from 'react';
import { Button, CopyIcon, DeleteIcon, Dialog, Menu, Sheet, TextField, type Toast, Toaster } from '..';
import styles from './Overlays.module.css';
import { Specimen } from './Specimen';

type Overlay = 'sheet' | 'question' | 'notice' | 'uncloseable' | null;

const samples: Toast[] = [
  { id: 'done', text: '登录成功', tone: 'done' },
  { id: 'failed', text: '网络连接失败，请检查网络后重试', tone: 'failed' },
  { id: 'undo', text: '已删除', action: { label: '撤销', onAction: () => undefined } },
];

export function Overlays() {
  const [open, setOpen] = useState<Overlay>(null);
  const [toasts, setToasts] = useState<Toast[]>([]);
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
      <Sheet open={open === 'sheet'} onClose={close} title="登录聊斋" footer={<Button block>登录</Button>}>
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
