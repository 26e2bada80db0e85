from torsor.viewer._animate import animate as animate
from torsor.viewer._view import view as view
from torsor.viewer.viewer import Viewer as Viewer
